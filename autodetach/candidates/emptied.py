"""A list that grows from pass to pass is emptied behind the step that has used it, and those that grow with it.

Where something reads them later, they are emptied when a pass begins, by a method that their object has for it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from autodetach.candidates.cover import cover, innermost
from autodetach.candidates.emptying import emptying
from autodetach.candidates.grown_alike import grown_together, is_list
from autodetach.candidates.placed_reads import (
    is_read_before_filled,
    is_read_by_place,
    is_read_early,
    is_shortened,
)
from autodetach.candidates.reads import Repair
from autodetach.machine.activations import Activation
from autodetach.machine.events import Stored
from autodetach.machine.values import Sequence
from autodetach.view.called import with_called
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Holder, Replay
from autodetach.view.moments import Moment, begun_at, behind_step, last_mention, placed
from autodetach.view.program import Program


def emptied_lists(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed], stored: list[Stored]
) -> Iterator[Repair]:
    """Empty a list that grows from pass to pass, and those that grow with it, behind the step that has used it."""
    from autodetach.codemods.insert_statement import InsertStatement

    if not stored:
        return
    operands = [operand for _, operand, _ in crossed]
    lists = cover(program, again, d, activation, operands, lambda o: [_of_list(h) for h in again.of(o)])
    if not lists or not all(is_list(h.value) and is_filled(again, h.value) for h in lists.values()):
        return
    frame = innermost(d, lists.values())
    statement = placed(program, d, frame, activation.node)
    if statement is None:
        return
    beside = [grown_together(again, h) for h in lists.values()]
    if any(found is None for found in beside):
        return  # emptied alone, it would be shorter than what is read with it
    texts = list(dict.fromkeys((*(h.text for h in lists.values()), *(t for found in beside for t in found or ()))))
    values = [h.value for h in lists.values() if is_list(h.value)]
    is_needed = (
        any(value.dropped for value in values)
        or is_shortened(program, texts)
        or is_read_by_place(program, texts, activation.node)
        or is_read_before_filled(program, texts)
        or is_read_early(again.machine, values, crossed, activation.number)
    )
    if is_needed:
        return
    anchor = last_mention(program, behind_step(program, again.machine, d, statement, frame), texts)
    begun = begun_at(program, d, activation.node)
    around = program.block(d.trail[begun][0]) if begun is not None else []
    behind = around[around.index(d.trail[begun][0]) + 1 :] if begun is not None else []
    names = {_name_of(t) for t in texts}
    is_read_later = _is_read_later(program, d, anchor, activation.node, names)
    is_read_behind = not names.isdisjoint(names_in(with_called(program, again.machine, behind)))
    if is_read_later or is_read_behind:
        call = emptying(lists.values(), {_name_of(h.text) for h in lists.values()})
        if call is not None:
            first = _first_of_pass(program, statement, activation.node)
            yield f"call `{call}` when a pass begins", (InsertStatement(first, call, "before"),)
    if not (is_read_later or is_read_behind):
        shown = ", ".join(f"`{t}`" for t in texts)
        yield (
            f"empty {shown} when {'it has' if len(texts) == 1 else 'they have'} been used",
            (InsertStatement(anchor, "\n".join(f"{t}.clear()" for t in texts)),),
        )


def _first_of_pass(program: Program, statement: ast.stmt, loop: ast.AST | None) -> ast.stmt:
    """The statement with which a pass begins in the function of `statement`: of the loop, if that is in it."""
    for around in (statement, *program.enclosing(statement)):
        if isinstance(around, ast.stmt) and program.parents.get(around) is loop:
            return program.block(around)[0]
    scope = program.scope(statement)
    body = scope.body if isinstance(scope, ast.FunctionDef) else program.block(statement)
    return body[1] if isinstance(scope, ast.FunctionDef) and ast.get_docstring(scope) and len(body) > 1 else body[0]


def is_filled(again: Replay, value: Sequence) -> bool:
    """Whether a list grows; one whose elements are replaced (`hidden[i] = h`) needs as many as it has."""
    return any(e.how == "append" and e.container is value for e in again.machine.stored)


def _is_read_later(program: Program, d: Moment, anchor: ast.stmt, loop: ast.AST | None, names: set[str]) -> bool:
    """Whether anything behind a statement, or behind the calls that led to it, says the names of lists in this pass."""
    begun = next((n for n, (s, _) in enumerate(d.trail) if s is loop), -1)
    block = program.block(anchor)
    for statement, _ in d.trail[begun + 1 :]:
        own = program.block(statement)
        later = block[block.index(anchor) + 1 :] if own is block else own[own.index(statement) + 1 :]
        if own is not block and not hasattr(statement, "body"):
            later = [statement, *later]
        if not names.isdisjoint(names_in(later)):
            return True
    return False


def _name_of(text: str) -> str:
    """`outputs` of `recorder.outputs["a.b"]`."""
    return re.sub(r"\[[^]]*\]", "", text).rpartition(".")[2]


def names_in(statements: list[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.Attribute):
                yield node.attr


def _of_list(holder: Holder) -> Holder:
    """Of the record `memory.rows[2]`, the list in which it stands; any other binding as it is."""
    whole, bracket, _ = holder.text.rpartition("[")
    if not bracket or not holder.text.endswith("]"):
        return holder
    rest = holder.rest.rpartition("[")[0]
    found = holder.frame.names.get(whole) if holder.owner is None else holder.owner.attrs.get(rest.removeprefix("."))
    if isinstance(found, Sequence) and any(item is holder.value for item in found.items):
        return replace(holder, text=whole, rest=rest, value=found)
    return holder
