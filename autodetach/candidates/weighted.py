"""The weight of a log-probability, which an actor takes for a number: an advantage that a critic has computed.

The policy gradient theorem has the gradient of `log_prob` times a weight, and none of the weight. Where the weight
keeps the graph of the critic, differentiating the loss of the actor trains the critic too, and frees its graph:
https://github.com/bentrevett/pytorch-rl/issues/2. An entropy, `-(p * p.log()).sum()`, has its own gradient by both.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator

from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.suspect import Candidate
from autodetach.view.program import listed

LOGARITHMS = frozenset({"log_prob", "log", "log_softmax", "logsigmoid"})
THROUGH = frozenset(
    "neg sum mean cat stack gather __getitem__ squeeze unsqueeze view reshape flatten t transpose part add sub mul div "
    "exp float to index_select clone select".split()
)
"""Operations behind which a log-probability still is one, or a ratio of two."""
OF_PROBABILITIES = frozenset({"clamp", "exp", "log_softmax", "probs", "sigmoid", "softmax", "softmin"})
"""Operations that make probabilities of values, or keep them from zero."""


def weights(calls: list[Differentiation]) -> dict[ast.expr, None]:
    """The weights of log-probabilities whose graph another one of these calls walks, too, as expressions."""
    found: dict[ast.expr, None] = {}
    graphs = {d: {n for n in ancestors(d.roots) if not n.leaf} for d in calls}
    shared_by = Counter(n for graph in graphs.values() for n in graph)
    for d in calls:
        for product in (n for n in ancestors(d.roots) if n.op == "mul" and len(n.parents) == 2):
            for weight, logarithm in (product.parents, product.parents[::-1]):
                if (
                    _is_likelihood(logarithm)
                    and not _is_likelihood(weight)
                    and not _is_entropy(weight, logarithm)
                    and any(shared_by[n] > (n in graphs[d]) for n in ancestors([weight]))
                ):
                    found.update(dict.fromkeys(_written(product, weight)))
    return found


def detached(calls: list[Differentiation]) -> Candidate | None:
    """Such weights without their graph, or None if there is none."""
    from autodetach.codemods.append_method import AppendMethod

    expressions = list(weights(calls))
    if not expressions:
        return None
    shown = listed(expressions)
    return Candidate(
        f"detach {shown}, by which a log-probability is weighted",
        tuple(AppendMethod(e, "detach") for e in expressions),
        "the loss may be meant to train what its weight comes from",
        cuts=True,
    )


def _is_likelihood(node: Node) -> bool:
    return any(n.op in LOGARITHMS for n in _through([node], THROUGH))


def _through(nodes: Iterable[Node], ops: frozenset[str]) -> list[Node]:
    """Some nodes, and what they are made of by way of some operations."""
    stack, seen = list(nodes), dict[Node, None]()
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen[n] = None
        if n.op in ops:
            stack.extend(n.parents)
    return list(seen)


def _is_entropy(weight: Node, logarithm: Node) -> bool:
    """Whether the weight is made of the probabilities, or the values, whose logarithm it is that it weighs."""
    logarithms = [n for n in _through([logarithm], THROUGH) if n.op in LOGARITHMS]
    taken = frozenset(_through((parent for n in logarithms for parent in n.parents), THROUGH | OF_PROBABILITIES))
    made = [n for n in _through([weight], THROUGH | OF_PROBABILITIES) if n.op in OF_PROBABILITIES]
    return any(not taken.isdisjoint((n, *n.parents)) for n in made)


def _written(product: Node, weight: Node) -> Iterator[ast.expr]:
    """The expressions of a product that stand for one of its factors."""
    for expression, value in product.site.operands:
        if getattr(value, "node", None) is weight:
            yield expression
