"""Detaching a value where it is read: at the outermost call that is given it."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.detaching import structural
from autodetach.machine.children import walk
from autodetach.machine.graph import Node, Site, calls_of
from autodetach.machine.spelling import called_name
from autodetach.machine.values import Sequence, Tensor, Value
from autodetach.view.crossings import Crossed
from autodetach.view.none_by_default import may_be_none
from autodetach.view.program import Program, listed

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

OVERWRITING = frozenset("zero_ fill_ copy_ normal_ uniform_".split())
PLACES = (ast.Name, ast.Attribute, ast.Subscript)
Repair = tuple[str, tuple["Codemod", ...]]
"""What it does, in words, and how."""


def at_read(program: Program, crossed: Iterable[Crossed]) -> Iterator[Repair]:
    """Detach where the state is read."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    edits: dict[ast.expr, Codemod] = {}
    guarded: dict[ast.expr, Codemod] = {}
    for reader, operand, _ in crossed:
        found = reads_of(reader, operand)
        if not found:
            return
        for expression, value in found:
            is_changed = isinstance(value, Tensor) and _is_changed_there(program, expression)
            new = "{}.detach_()" if is_changed else structural("{}", value)
            if new is None or not isinstance(expression, PLACES):
                return
            if isinstance(program.parents.get(expression), ast.Starred):
                new = new.removeprefix("tuple")
            is_left_out = may_be_none(program, expression)
            if not is_left_out:
                edits[expression] = ReplaceExpression(expression, new)
            if is_left_out or _is_none_at_first(program, expression):
                guard = f"{new} if {{}} is not None else None"
                is_argument = isinstance(program.parents.get(expression), (ast.Call, ast.keyword))
                guarded[expression] = ReplaceExpression(expression, guard if is_argument else f"({guard})")
    both = edits | guarded
    shown = listed(both)
    if edits and guarded.keys() <= edits.keys():
        yield f"detach {shown} where it is read", tuple(edits.values())
    if guarded:
        yield f"detach {shown} where it is read, if there is one", tuple(both.values())


def where_overwritten(program: Program, crossed: Collection[Crossed]) -> Iterator[Repair]:
    """Detach in place where a statement gives a state new values, as its author has it begin anew there."""
    found = [read_at(reader, operand) for reader, operand, _ in crossed]
    if all(pair is not None and _is_overwritten(program, pair[0]) for pair in found):
        for message, codemods in at_read(program, crossed):
            yield message.replace("where it is read", "in place where its values are overwritten"), codemods


def _is_overwritten(program: Program, expression: ast.expr) -> bool:
    parent = program.parents.get(expression)
    is_method = isinstance(parent, ast.Attribute) and parent.attr in OVERWRITING
    return is_method and _is_changed_there(program, expression)


def _is_changed_there(program: Program, expression: ast.expr) -> bool:
    """Whether a statement only changes it in place, as `h.zero_()`: what is read later is not a copy of it."""
    parent = program.parents.get(expression)
    call = program.parents.get(parent) if isinstance(parent, ast.Attribute) else parent
    if not isinstance(call, ast.Call) or not isinstance(program.parents.get(call), ast.Expr):
        return False
    is_target = parent is call.func or call.args[:1] == [expression]
    name = called_name(call)
    return is_target and name.endswith("_") and not name.endswith("__")


def is_part_of_what_is_read(reader: Node, operand: Value) -> bool:
    """Whether the expression that is read gives a tuple, or a record, that has the operand in it."""
    found = read_at(reader, operand)
    return found is not None and found[1] is not operand


def _is_none_at_first(program: Program, expression: ast.expr) -> bool:
    """Whether the function that reads a variable may have set it to None: there is no state before the first pass."""
    return isinstance(expression, ast.Name) and is_set_to_none(program.scope(expression), expression.id)


def is_set_to_none(scope: ast.AST, name: str) -> bool:
    """Whether a function or file may set a variable to None."""
    return any(
        isinstance(value, ast.Constant) and value.value is None
        for assigned in walk(scope)
        if isinstance(assigned, (ast.Assign, ast.AnnAssign)) and assigned.value is not None
        for target in (assigned.targets if isinstance(assigned, ast.Assign) else [assigned.target])
        if isinstance(target, ast.Name) and target.id == name
        for value in ast.walk(assigned.value)
    )


def _spread(site: Site, operand: Value) -> list[tuple[ast.expr, Value]]:
    """What a call spreads out that has the operand in it: `self.state` of `cell(x, *self.state)`."""
    spread = [a.value for a in site.node.args if isinstance(a, ast.Starred)] if isinstance(site.node, ast.Call) else []
    pairs = [(e, v) for e, v in site.operands if isinstance(v, Sequence) and any(part is operand for part in v.items)]
    return [(e, v) for e, v in pairs if isinstance(e, PLACES) and any(e is s for s in spread)]


def read_at(reader: Node, operand: Value) -> tuple[ast.expr, Value] | None:
    """Where the state is read first."""
    return next(iter(reads_of(reader, operand)), None)


def reads_of(reader: Node, operand: Value) -> list[tuple[ast.expr, Value]]:
    """Where the state is read: at the outermost call that is given it, once or more, and not inside of a cell."""
    for site in reversed(list(calls_of(reader.chain))):
        named = [pair for pair in site.operands if pair[1] is operand and isinstance(pair[0], PLACES)]
        named = named or _spread(site, operand)
        if named:
            return named
    given = [pair for pair in reader.site.operands if pair[1] is operand]
    if given:
        return given
    for expression, value in reader.site.operands:
        items = getattr(value, "items", None)
        if isinstance(items, list) and operand in items:
            if isinstance(expression, (ast.Tuple, ast.List)) and len(expression.elts) == len(items):
                parts = zip(expression.elts, items, strict=True)
                return [(part, operand) for part, item in parts if item is operand]  # `rnn(x, (self.h, self.c))`
            return [(expression, value)]
    return []
