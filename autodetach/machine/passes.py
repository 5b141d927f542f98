"""How many passes of a loop are executed; they stand for all."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.delays import MAX_DELAY, delay_of
from autodetach.machine.graph import Activation, Differentiation, Node, Pass, pass_of
from autodetach.node_types import LOOPS

Ways = list[tuple[ast.AST, bool]]
"""Which ways tests went, one after the other."""

MAX_PASSES = 3
PASSES_AGAIN = 2
"""So many show all that there is where nothing has a history, and where a loop trains as it did in an outer pass.

Where nothing has a history in either, one shows it.
"""
PASSES_OF_OUTER = (MAX_PASSES, PASSES_AGAIN, 1)
"""The passes of a loop that has trained in none, one or more passes of the loop around it."""
MAX_SKIPPED = 2
"""So many passes that end early, by `continue`, are not counted."""
MOST_PASSES = MAX_PASSES + MAX_SKIPPED + MAX_DELAY + 1
"""What a loop runs through must last for so many passes."""


def passes_of(activation: Activation, nodes: list[Node]) -> int:
    """How many passes a loop is given that skips none of them, and makes nothing of what an earlier one has made."""
    usual = PASSES_OF_OUTER[activation.trained]
    if activation.without_grad and not _has_made(activation, nodes):
        return 1 if activation.idle else min(usual, PASSES_AGAIN)
    return usual


def is_cut_short(activation: Activation, nodes: list[Node], ways: Ways) -> bool:
    """Whether a loop has had its passes: with more, where what two of them have made takes long to come to its end."""
    passes, usual = activation.passes - min(activation.skipped, MAX_SKIPPED), passes_of(activation, nodes)
    if passes < usual or activation.passes < activation.awaited:
        return False
    delay = delay_of(activation.node) if isinstance(activation.node, LOOPS) else 1
    if passes < usual + min(delay - 1, MAX_DELAY):
        return False
    return usual < MAX_PASSES or passes > MAX_PASSES or not _has_found_first(activation, ways)


def _has_found_first(activation: Activation, ways: Ways) -> bool:
    """Whether the latest pass of a loop was the first to find what is None at first: what comes of it, the next shows.

    `if step > 1: average = loss if average is None else 0.9 * average + 0.1 * loss`, say.
    """
    first, latest = activation.begun[0], activation.begun[-1]
    found = {way for way in ways[latest:] if asks_for_none(way[0])}
    return bool(found) and not found <= set(ways[first:latest])


@kept
def asks_for_none(node: ast.AST) -> bool:
    """Whether an `if`, or a conditional expression, asks whether something is None."""
    test = node.test if isinstance(node, (ast.If, ast.IfExp)) else None
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return False
    against = test.comparators[0]
    return isinstance(against, ast.Constant) and against.value is None


def note_training(activation: Activation, outer: Activation, last: Differentiation, ways: Ways) -> None:
    """A loop in a pass of an outer one has ended: remember it if it has trained, and ends with passes that are alike.

    `average = loss if average is None else 0.9 * average + 0.1 * loss` behind the first pass needs all of them. What
    is compared are the ways that tests went: a repair must not change how many passes are executed.
    """
    if not _is_in(last, activation):
        return
    if activation.trained:
        outer.training[activation.node] = len(PASSES_OF_OUTER) - 1
    elif activation.passes >= MAX_PASSES and _ends_alike(activation, ways):
        outer.training[activation.node] = 1


def note_quiet(activation: Activation, outer: Pass, nodes: list[Node], ways: Ways) -> None:
    """A loop in a pass of an outer one has ended: remember it if it records nothing, as one that evaluates.

    What is evaluated beside it in the same pass may be something else.
    """
    is_over = activation.idle or (activation.passes >= PASSES_AGAIN and _ends_alike(activation, ways))
    if is_over and activation.without_grad and not _has_made(activation, nodes):
        outer.activation.quiet.setdefault(activation.node, outer.index)


def _ends_alike(activation: Activation, ways: Ways) -> bool:
    """Whether all tests of the latest pass of a loop have gone the same way in the pass before."""
    earlier, latest = activation.begun[-2:]
    return set(ways[latest:]) <= set(ways[earlier:latest])  # items are drawn in the pass before theirs


def _has_made(activation: Activation, nodes: list[Node]) -> bool:
    """Whether the last thing with a history was made in a loop."""
    return bool(nodes) and _is_in(nodes[-1], activation)


def _is_in(event: Node | Differentiation, activation: Activation) -> bool:
    return pass_of(event.loops, activation) is not None
