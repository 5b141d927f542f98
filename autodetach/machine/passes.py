"""How many passes of a loop are executed; they stand for all."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.delays import MAX_DELAY, delay_of
from autodetach.machine.graph import Activation, Differentiation, Node, Shown, pass_of
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
"""So many show that a loop does what it did before, where it runs for the second time, and later.

What only evaluates shows that in one, where it did it in an earlier pass of the loop around it: beside it, in the same
pass, something else may be evaluated. What trains is to fill what it keeps once more.
"""
MAX_SKIPPED = 2
"""So many passes that end early, by `continue`, are not counted."""
MOST_PASSES = MAX_PASSES + MAX_SKIPPED + MAX_DELAY + 1
"""What a loop runs through must last for so many passes."""


def passes_of(activation: Activation, nodes: list[Node]) -> int:
    """How many passes a loop is given that skips none of them, and makes nothing of what an earlier one has made."""
    records_nothing = _records_nothing(activation, nodes)
    before = activation.before.get(not records_nothing)
    if before is None:
        return PASSES_WITHOUT_HISTORY if records_nothing else MAX_PASSES
    is_known = before.index < activation.turn if records_nothing else before.times > 1
    return PASSES_AGAIN if is_known else PASSES_OF_SECOND


def is_cut_short(activation: Activation, nodes: list[Node], ways: Ways) -> bool:
    """Whether a loop has had its passes: with more, where what two of them have made takes long to come to its end."""
    passes, usual = activation.passes - min(activation.skipped, MAX_SKIPPED), passes_of(activation, nodes)
    if passes < usual or activation.passes < activation.awaited:
        return False
    delay = delay_of(activation.node) if isinstance(activation.node, LOOPS) else 1
    if passes < usual + min(delay - 1, MAX_DELAY):
        return False
    if usual == PASSES_AGAIN and passes < PASSES_OF_SECOND:
        gone = ways[activation.begun[0] :]
        return any(before.ways.issuperset(gone) for before in activation.before.values())
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


def note_passes(activation: Activation, nodes: list[Node], last: Differentiation | None, ways: Ways) -> None:
    """A loop in a pass of an outer one has ended: remember what it has shown if it ends with passes that are alike.

    `average = loss if average is None else 0.9 * average + 0.1 * loss` behind the first pass needs all of them. What
    is compared are the ways that it went: a repair must not change how many passes are executed. `last` is the latest
    differentiation.
    """
    trains = last is not None and _is_in(last, activation)
    if not trains and not _records_nothing(activation, nodes):
        return
    usual = MAX_PASSES if trains else PASSES_WITHOUT_HISTORY
    if trains in activation.before or (activation.passes >= usual and _end_alike(activation, ways)):
        shown = activation.before.setdefault(trains, Shown(activation.turn))
        shown.times += 1
        shown.ways.update(ways[activation.begun[0] :])


def _end_alike(activation: Activation, ways: Ways) -> bool:
    """Whether the latest pass of a loop has gone no other ways than the pass before."""
    earlier, latest = activation.begun[-2:]
    return set(ways[latest:]) <= set(ways[earlier:latest])  # items are drawn in the pass before theirs


def _records_nothing(activation: Activation, nodes: list[Node]) -> bool:
    """Whether a loop began where no gradient is recorded, and has made nothing with a history itself."""
    return activation.without_grad and not (nodes and _is_in(nodes[-1], activation))


def _is_in(event: Node | Differentiation, activation: Activation) -> bool:
    return pass_of(event.loops, activation) is not None
