"""How many passes of a loop are executed; they stand for all."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.activations import Activation, Shown, pass_of
from autodetach.machine.delays import MAX_DELAY, delay_of
from autodetach.machine.graph import Differentiation, Node
from autodetach.node_types import LOOPS

Ways = list[tuple[ast.AST, bool]]
"""Which ways a program went, one after the other: how its tests went, and to which loops, cases and handlers.

And which functions it called, with gradients on or off: another network may keep what the first one did not.
"""

MAX_PASSES = 3
PASSES_WITHOUT_HISTORY = 2
"""So many show all that there is where nothing has a history."""
PASSES_OF_SECOND = 2
PASSES_AGAIN = 1
"""So many show that a loop trains as it did before, where it runs for the second time, and later."""
MAX_SKIPPED = 2
"""So many passes that end early, by `continue`, are not counted."""
MOST_PASSES = MAX_PASSES + MAX_SKIPPED + MAX_DELAY + 1
"""What a loop runs through must last for so many passes."""


def passes_after(times: int) -> int:
    """How many passes show what a loop does that has trained so often, as long as it does the same."""
    return (MAX_PASSES, PASSES_OF_SECOND, PASSES_AGAIN)[min(times, 2)]


def passes_of(activation: Activation, nodes: list[Node]) -> int:
    """How many passes a loop is given that skips none of them, and makes nothing of what an earlier one has made."""
    usual = passes_after(activation.before.times if activation.before is not None else 0)
    if activation.without_grad and not (nodes and _is_in(nodes[-1], activation)):
        return min(usual, PASSES_WITHOUT_HISTORY)
    return usual


def last_of(activation: Activation, nodes: list[Node]) -> int:
    """The index of the last pass that is executed, as far as can be told before."""
    if activation.exact and activation.length:
        return activation.length - 1
    return passes_of(activation, nodes) + _further(activation) - 1


def _further(activation: Activation) -> int:
    """How many passes more a loop is given for what takes several of them to come back to where it was made."""
    return min(delay_of(activation.node) - 1, MAX_DELAY) if isinstance(activation.node, LOOPS) else 0


def is_cut_short(activation: Activation, nodes: list[Node], ways: Ways) -> bool:
    """Whether a loop has had its passes: with more, where what two of them have made takes long to come to its end."""
    if activation.ended:
        return True
    passes, usual = activation.passes - min(activation.skipped, MAX_SKIPPED), passes_of(activation, nodes)
    if passes < usual or activation.passes < activation.awaited:
        return False
    if passes < usual + _further(activation):
        return False
    if activation.before is not None and passes < PASSES_OF_SECOND:
        return activation.before.ways.issuperset(ways[activation.begun[0] :])
    return usual < MAX_PASSES or passes > MAX_PASSES or not _has_found_first(activation, ways)


def _has_found_first(activation: Activation, ways: Ways) -> bool:
    """Whether the latest pass of a loop was the first to find what is None, or in no dict, at first.

    What comes of it, the next shows: `if step > 1: average = loss if average is None else 0.9 * average + 0.1 * loss`.
    """
    first, latest = activation.begun[0], activation.begun[-1]
    found = {way for way in ways[latest:] if asks_for_none(way[0]) or _asks_for_member(way[0])}
    return bool(found) and not found <= set(ways[first:latest])


@kept
def asks_for_none(node: ast.AST) -> bool:
    """Whether an `if`, or a conditional expression, asks whether something is None."""
    test = node.test if isinstance(node, (ast.If, ast.IfExp)) else None
    if not isinstance(test, ast.Compare) or not isinstance(test.ops[0], (ast.Is, ast.IsNot)):
        return False
    against = test.comparators[0]
    return isinstance(against, ast.Constant) and against.value is None


@kept
def _asks_for_member(node: ast.AST) -> bool:
    """Whether an `if`, or a conditional expression, asks whether something is in a container."""
    test = node.test if isinstance(node, (ast.If, ast.IfExp)) else None
    return isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.In, ast.NotIn))


def note_training(activation: Activation, outer: Activation, last: Differentiation, ways: Ways) -> None:
    """A loop in a pass of an outer one has ended: remember it if it has trained, and ends with passes that are alike.

    `average = loss if average is None else 0.9 * average + 0.1 * loss` behind the first pass needs all of them. What
    is compared are the ways that it went: a repair must not change how many passes are executed. `last` is the latest
    differentiation.
    """
    if not _is_in(last, activation):
        return
    if activation.before is not None or (activation.passes >= MAX_PASSES and _end_alike(activation, ways)):
        shown = outer.shown.setdefault(activation.node, Shown())
        shown.times += 1
        shown.ways.update(ways[activation.begun[0] :])


def _end_alike(activation: Activation, ways: Ways) -> bool:
    """Whether the latest pass of a loop has gone no other ways than the pass before."""
    earlier, latest = activation.begun[-2:]
    return set(ways[latest:]) <= set(ways[earlier:latest])  # items are drawn in the pass before theirs


def _is_in(event: Node | Differentiation, activation: Activation) -> bool:
    return pass_of(event.loops, activation) is not None
