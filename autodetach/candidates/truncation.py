"""Truncated backpropagation: a state is detached at the end of a pass, or where the next one reads it."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from autodetach.candidates.cover import cover, is_bound_first
from autodetach.candidates.detaching import structural
from autodetach.candidates.reads import Repair, at_read
from autodetach.machine.graph import Activation
from autodetach.machine.values import Value
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Holder, Replay
from autodetach.view.moments import Moment, behind_step, last_mention, placed
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod


def truncated(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed]
) -> Iterator[Repair]:
    """Where a state is cut: at the end of the pass if the loop has a name for it, else where it is read."""
    named = [h for _, operand, _ in crossed for h in again.of(operand)]
    if named and min(h.depth for h in named) >= 3:  # `net[1].v`: the loop has no good name for it
        yield from at_read(program, crossed)
        yield from _at_the_end(program, again, d, activation, crossed)
    else:
        yield from _at_the_end(program, again, d, activation, crossed)
        yield from at_read(program, crossed)


def _at_the_end(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed]
) -> Iterator[Repair]:
    """Detach the bindings that carry the state, behind the step at the end of the pass.

    Where a name of the pass itself is nearer than what lasts, that is tried first, and then what lasts.
    """
    operands = [operand for _, operand, _ in crossed]
    chosen = cover(program, again, d, activation, operands)
    yield from _detached(program, again, d, activation, chosen)
    passing = {h.text for h in chosen.values() if is_bound_first(program, activation.node, h.text)}
    if passing:

        def lasting(operand: Value) -> list[Holder]:
            return [h for h in again.of(operand) if h.text not in passing]

        found = _detached(program, again, d, activation, cover(program, again, d, activation, operands, lasting))
        yield from islice(found, 1, None)


def _detached(
    program: Program, again: Replay, d: Moment, activation: Activation, chosen: dict[str, Holder]
) -> Iterator[Repair]:
    """Behind the step, and behind the last mention."""
    from autodetach.codemods.insert_statement import InsertStatement

    if not chosen or any(h.depth > 8 for h in chosen.values()):
        return
    early: list[Codemod] = []
    late: list[Codemod] = []
    for frame in dict.fromkeys(h.frame for h in chosen.values()):
        texts = [(h.text, structural(h.text, h.value)) for h in chosen.values() if h.frame is frame]
        statement = placed(program, d, frame, activation.node)
        if statement is None or any(new is None for _, new in texts):
            return
        anchor = behind_step(program, again.machine, d, statement, frame)
        names = all(t.isidentifier() and new == f"{t}.detach()" for t, new in texts)
        if names and len(texts) > 1:
            body = f"{', '.join(t for t, _ in texts)} = {', '.join(str(n) for _, n in texts)}"
        else:
            body = "\n".join(f"{t} = {n}" for t, n in texts)
        early.append(InsertStatement(anchor, body))
        late.append(InsertStatement(last_mention(program, anchor, [t for t, _ in texts]), body))
    shown = ", ".join(f"`{t}`" for t in chosen)
    yield f"detach {shown} where it enters the next pass", tuple(early)
    yield f"detach {shown} at the end of the pass", tuple(late)
