"""What an unknown callable makes of a part of an unknown result: `reward = judge(act)`, of `act, chance = net(x)`.

What is sampled has no history, and nothing tells which of the parts have some, but that they are differentiated.
"""

from __future__ import annotations

from collections.abc import Container, Iterator

from autodetach.machine.graph import Differentiation, Node, ancestors

TERMS = frozenset({"add", "sum", "stack", "cat"})


def meet_by_sample(node: Node, one: Differentiation, other: Differentiation) -> bool:
    """Whether one of two differentiations leads to a node only by a part of a result of which the other has another."""
    return _comes_by_sample(node, one, other) or _comes_by_sample(node, other, one)


def _comes_by_sample(node: Node, d: Differentiation, other: Differentiation) -> bool:
    parts = {made: list(_parts(made)) for made in ancestors(d.roots) if made.called and made.assumed and not made.weak}
    guesses = {made: found for made, found in parts.items() if found}
    if not guesses:
        return False
    reached = _reached(d, guesses)
    known = _founded(reached, guesses)
    if node in known or not any(_compares(n, known) for n in reached):
        return False
    certain = _founded(_reached(other, guesses), guesses)
    wholes = {p for n in certain if n.op == "part" for p in n.parents}
    guessed = [part for made in reached.intersection(guesses) for part in guesses[made]]
    return all(part not in certain and not wholes.isdisjoint(part.parents) for part in guessed)


def _compares(node: Node, known: set[Node]) -> bool:
    """Whether an operation takes a guess together with what a network is known to have made, and not as one more term.

    `reward - value`, `reward * chance`, `mse_loss(value, reward)`
    """
    is_guess = any(p not in known for p in node.parents)
    return is_guess and node.op.rstrip("_") not in TERMS and any(p in known and not p.leaf for p in node.parents)


def _reached(d: Differentiation, guesses: Container[Node]) -> set[Node]:
    """What a differentiation leads to by other ways than through what was guessed."""
    seen: set[Node] = set()
    stack = list(d.roots)
    while stack:
        node = stack.pop()
        if node not in seen:
            seen.add(node)
            stack += () if node in guesses else node.parents
    return seen


def _founded(nodes: set[Node], guesses: Container[Node]) -> set[Node]:
    """Those nodes that have history even if what was guessed has none."""
    found: set[Node] = set()
    for node in sorted(nodes, key=lambda n: n.number):
        if node not in guesses and (not node.parents or not found.isdisjoint(node.parents)):
            found.add(node)
    return found


def _parts(made: Node) -> Iterator[Node]:
    """The parts of unknown results of which alone something was made, if it was made of nothing else."""
    found: list[Node] = []
    for parent in made.parents:
        while parent.op != "part" and len(parent.parents) == 1 and parent.assumed:
            parent = parent.parents[0]
        if parent.op != "part" or len(parent.parents) != 1:
            return
        found.append(parent)
    yield from found
