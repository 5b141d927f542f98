"""A state goes on to the next pass, and a memory keeps what was made of it: both are cut off, where it goes in, once.

A memory that is detached as a whole at the end of each pass would be gone through again and again.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice

from autodetach.candidates.reads import Repair
from autodetach.candidates.stores import at_store, operands_of
from autodetach.candidates.truncation import truncated
from autodetach.machine.activations import Activation
from autodetach.machine.events import Stored
from autodetach.machine.operands import expression_of
from autodetach.machine.run import Run
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Replay
from autodetach.view.moments import Moment
from autodetach.view.program import Program


def stored_and_carried(
    program: Program,
    again: Replay,
    at: Moment,
    activation: Activation,
    crossed: list[Crossed],
    elements: list[ast.expr],
) -> Iterator[Repair]:
    """For what has `crossed`: a part by a name, and the rest out of a container, which takes the `elements`."""
    carried = [one for one in crossed if isinstance(expression_of(one[0], one[1]), ast.Name)]
    if not 0 < len(carried) < len(crossed):
        return
    for stored, codemods in at_store(elements):
        for message, cuts in islice(truncated(program, again, at, activation, carried), 1):
            yield f"{stored}, and {message}", (*codemods, *cuts)


def stored_together(run: Run, events: list[Stored]) -> list[ast.expr]:
    """The expressions of all with a graph that goes into a container together with what some events tell of."""
    places = {event.element for event in events}
    together = (event for event in run.machine.stored if event.element in places and not event.node.leaf)
    return [element for _, element in operands_of(together)]
