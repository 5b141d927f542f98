"""The weight of a log-probability, which an actor takes for a number: an advantage that a critic has computed.

The policy gradient theorem has the gradient of `log_prob` times a weight, and none of the weight. Where the weight
keeps the graph of the critic, differentiating the loss of the actor trains the critic too, and frees its graph:
https://github.com/bentrevett/pytorch-rl/issues/2.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.suspect import Candidate
from autodetach.view.program import listed

LOGARITHMS = frozenset({"log_prob", "log", "log_softmax", "logsigmoid"})
THROUGH = frozenset(
    "neg sum mean cat stack gather __getitem__ squeeze unsqueeze view reshape flatten t transpose part add sub mul div "
    "exp float to index_select clone select".split()
)
"""Operations behind which a log-probability still is one, or a ratio of two."""


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
    stack, seen = [node], set[Node]()
    while stack:
        n = stack.pop()
        if n in seen:
            continue
        seen.add(n)
        if n.op in LOGARITHMS:
            return True
        if n.op in THROUGH:
            stack.extend(n.parents)
    return False


def _written(product: Node, weight: Node) -> Iterator[ast.expr]:
    """The expressions of a product that stand for one of its factors."""
    for expression, value in product.site.operands:
        if getattr(value, "node", None) is weight:
            yield expression
