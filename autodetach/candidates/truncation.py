"""Truncated backpropagation: a state is detached at the end of a pass, or where the next one reads it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from autodetach.candidates.cover import cover, is_bound_first
from autodetach.candidates.detaching import structural
from autodetach.candidates.mixed_states import if_tensors
from autodetach.candidates.reads import Repair, at_read, is_set_to_none
from autodetach.machine.activations import Activation
from autodetach.machine.held import graph_in
from autodetach.machine.tallies import is_tally
from autodetach.machine.values import Mapping, Opaque, Tensor, Value
from autodetach.view.begun_as import may_be_no_tensor
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Holder, Replay
from autodetach.view.moments import Moment, behind_step, last_mention, placed
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod


def truncated(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed]
) -> Iterator[Repair]:
    """Where a state is cut: at the end of the pass if the loop has a name for it, else where it is read.

    But not first where the place that reads it reads what the pass itself has made, too, as in the steps of a sequence.
    """
    named = [h for _, operand, _ in crossed for h in again.of(operand)]
    is_deep = bool(named) and min(h.depth for h in named) >= 3  # `net[1].v`: the loop has no good name for it
    if is_deep and not _reads_its_own(again, activation, crossed):
        yield from at_read(program, crossed)
        yield from _at_the_end(program, again, d, activation, crossed)
    else:
        yield from _at_the_end(program, again, d, activation, crossed)
        yield from at_read(program, crossed)


def truncated_if_any(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed]
) -> Iterator[Repair]:
    """The same at the end of the pass, where variables, or parts of them, may be None, if nothing else repairs it."""
    yield from _at_the_end(program, again, d, activation, crossed, if_any=True)


def _reads_its_own(again: Replay, activation: Activation, crossed: list[Crossed]) -> bool:
    """Whether a place that reads a state of earlier passes reads one of its own pass, made by the same place, too."""
    for reader, _, maker in crossed:
        now = next((p for p in reader.loops if p.activation.node is activation.node), None)
        alike = (n for n in again.machine.nodes if n.site.node is reader.site.node and now in n.loops)
        if any(p.site.node is maker.site.node and now in p.loops for n in alike for p in n.parents):
            return True
    return False


def leaves_again(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed]
) -> Iterator[Repair]:
    """The same at the end of the pass where `torch.autograd.grad` asks about a state, as about fast weights.

    That has to require grad again, which no detached tensor does.
    """
    yield from _at_the_end(program, again, d, activation, crossed, leaves=True)


def _at_the_end(
    program: Program,
    again: Replay,
    d: Moment,
    activation: Activation,
    crossed: list[Crossed],
    *,
    leaves: bool = False,
    if_any: bool = False,
) -> Iterator[Repair]:
    """Detach the bindings that carry the state, behind the step at the end of the pass.

    Where a name of the pass itself is nearer than what lasts, that is tried first, and then what lasts. With `if_any`,
    variables that may still be None there, as where only one step of several gives the state, are let be None, and
    tuples and lists may have None or numbers beside the tensors.
    """
    operands = [operand for _, operand, _ in crossed]
    chosen = cover(program, again, d, activation, operands)
    yield from _detached(program, again, d, activation, chosen, leaves=leaves, if_any=if_any)
    passing = {h.text for h in chosen.values() if is_bound_first(program, activation.node, h.text)}
    if passing:

        def lasting(operand: Value) -> list[Holder]:
            return [h for h in again.of(operand) if h.text not in passing]

        chosen = cover(program, again, d, activation, operands, lasting)
        found = _detached(program, again, d, activation, chosen, leaves=leaves, if_any=if_any)
        yield from islice(found, 1, None)


def _detached(
    program: Program,
    again: Replay,
    d: Moment,
    activation: Activation,
    chosen: dict[str, Holder],
    *,
    leaves: bool = False,
    if_any: bool = False,
) -> Iterator[Repair]:
    """Behind the step, and behind the last mention; with `leaves`, only where some of it has to require grad again."""
    from autodetach.codemods.insert_statement import InsertStatement

    asked = _asked_about(again, activation, chosen.values()) if leaves else []
    if not chosen or any(h.depth > 8 for h in chosen.values()) or (leaves and not asked):
        return
    early: list[Codemod] = []
    late: list[Codemod] = []
    optional: set[str] = set()
    mixed: set[str] = set()
    for frame in dict.fromkeys(h.frame for h in chosen.values()):
        own = [h for h in chosen.values() if h.frame is frame]
        held = {h.text: _cut(h, is_leaf=h in asked) for h in own}
        statement = placed(program, d, frame, activation.node)
        if statement is not None and if_any and program.imports_torch(statement):
            parts = {h.text: if_tensors(h.text, h.value) for h in own if held[h.text] is None}
            held |= parts
            mixed |= parts.keys()
        if statement is None or None in held.values():
            return
        if any(may_be_no_tensor(program, statement, h.text, h.value) for h in own):
            return
        if if_any:
            scope = program.scope(statement)
            none = {text for text in held if text.isidentifier() and is_set_to_none(scope, text)} - mixed
            held.update((text, f"{held[text]} if {text} is not None else None") for text in none)
            optional |= none
        anchor = behind_step(program, again.machine, d, statement, frame)
        body = assignments(held, [h.text for h in chosen.values() if has_default(h.value)])
        early.append(InsertStatement(anchor, body))
        late.append(InsertStatement(last_mention(program, anchor, list(held)), body))
    shown = ", ".join(f"`{t}`" for t in chosen)
    if if_any and not optional and not mixed:
        return
    kept = ", if there is one" if optional else ""
    what = "the tensors in " if mixed else ""
    kept += f", and make {', '.join(f'`{h.text}`' for h in asked)} require grad again" if asked else ""
    yield f"detach {what}{shown} where it enters the next pass{kept}", tuple(early)
    yield f"detach {what}{shown} at the end of the pass{kept}", tuple(late)


def _asked_about(again: Replay, activation: Activation, held: Iterable[Holder]) -> list[Holder]:
    """Of what carries a state, that down to which `torch.autograd.grad` goes in the loop, as for fast weights.

    And what is told to retain its gradient.
    """
    reached = {
        parent.site.node
        for d in again.machine.differentiations
        if d.kind == "grad" and any(p.activation.node is activation.node for p in d.loops)
        for node in d.walked
        for parent in node.parents
    }
    return [h for h in held if any(_is_asked(t, reached) for t in graph_in(h.value))]


def _is_asked(held: Tensor | Opaque, reached: set[ast.AST]) -> bool:
    retains = isinstance(held, Tensor) and held.retains_since is not None
    return held.node is not None and (retains or held.node.site.node in reached)


def _cut(holder: Holder, *, is_leaf: bool) -> str | None:
    new = structural(holder.text, holder.value) if not is_tally(holder.value) else None
    return new.replace(".detach()", ".detach().requires_grad_()") if new is not None and is_leaf else new


def has_default(value: object) -> bool:
    """Whether it is a dict that makes what it does not hold: a plain one in its place would raise `KeyError`."""
    return isinstance(value, Mapping) and value.default is not None


def assignments(held: dict[str, str | None], lasting: Collection[str] = ()) -> str:
    """The statements that give names what is `held` by then; dicts that are `lasting` stay what they are."""
    if len(held) > 1 and all(name.isidentifier() and new == f"{name}.detach()" for name, new in held.items()):
        return f"{', '.join(held)} = {', '.join(map(str, held.values()))}"
    lines = (f"{name}.update({new})" if name in lasting else f"{name} = {new}" for name, new in held.items())
    return "\n".join(lines)
