"""A method that sets an object back, and leaves out what the method does that it overrides: `super().reset()`."""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.set_back_too import FORGOTTEN, WORDS
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word, spelled
from autodetach.named_tuples import NamedTuple
from autodetach.suspect import Candidate
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Replay
from autodetach.view.meant import classes_of
from autodetach.view.program import Program, line

if TYPE_CHECKING:
    from autodetach.codemods import Codemod


class _Override(NamedTuple):
    """A method of a class, called `name` with its class."""

    method: ast.FunctionDef
    name: str


def reset_left_out(program: Program, again: Replay, crossed: list[Crossed]) -> Iterator[Candidate]:
    """Call the overridden method, too, where what has the states is set back, as it is called for other objects.

    A method that does nothing, or that speaks of the state, leaves it as it is on purpose.
    """
    held = []
    for reader, operand, _ in crossed:
        read = {last_word(e) for e, value in reader.site.operands if value is operand and isinstance(e, ast.expr)}
        holders = [h for h in again.of(operand) if h.owner is not None]
        names = read.union(*(re.findall(r"\w+", h.rest) for h in holders))
        found = {o for h in holders for o in _overriding(again, h.owner)}
        held.append({o for o in found if names.isdisjoint(_mentioned(o.method))})
    common = set.intersection(*held) if held else set()
    for method, name in sorted(common, key=lambda found: line(found.method)):
        codemods = None if program.is_imported(method) else _edits(method)
        if codemods is not None:
            yield Candidate(f"call `super().{method.name}()` in `{name}`, too", codemods, FORGOTTEN)


def _overriding(again: Replay, owner: object) -> Iterator[_Override]:
    """The methods of an object that set it back without the methods that they override, which set others back."""
    executed = again.machine.executed
    methods = [(cls, _resets(cls.node, executed)) for cls in classes_of(owner)]
    for place, (cls, own) in enumerate(methods):
        inherited = {name for _, others in methods[place + 1 :] for name in others}
        for name in own.keys() & inherited:
            if not _calls_on(own[name]):
                yield _Override(own[name], f"{cls.name}.{name}")


def _resets(cls: ast.ClassDef, executed: Collection[ast.stmt]) -> dict[str, ast.FunctionDef]:
    """The methods of a class that were run, whose names say that they begin something anew, and that take no more."""
    return {
        s.name: s
        for s in cls.body
        if isinstance(s, ast.FunctionDef)
        and not WORDS.isdisjoint(s.name.split("_"))
        and not s.decorator_list
        and s.args.args
        and len(all_parameter_names(s.args)) == 1
        and any(inner in executed for inner in s.body)
    }


def _mentioned(method: ast.FunctionDef) -> set[str]:
    return {n.attr for n in walk(method) if isinstance(n, ast.Attribute)}


def _calls_on(method: ast.FunctionDef) -> bool:
    """Whether a method calls one of its name: that of `super()`, of a base class, or of a part of its object."""
    return any(isinstance(n, ast.Attribute) and n.attr == method.name for n in walk(method))


def _edits(method: ast.FunctionDef) -> tuple[Codemod, ...] | None:
    """The call goes in front; what a method goes on with, `self.a = 0.9 * self.a`, is computed before.

    The overridden method may set that back, too.
    """
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_statement import ReplaceStatement

    this, call = method.args.args[0].arg, f"super().{method.name}()"
    body = [s for s in method.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    going_on = [s for s in walk(method) if isinstance(s, (ast.Assign, ast.AugAssign)) and _goes_on(s)]
    if all(isinstance(s, ast.Pass) for s in body) or any(
        isinstance(n, (ast.Return, ast.Yield, ast.Await)) for n in walk(method)
    ):
        return None
    if not going_on:
        return (InsertStatement(body[0], call, "before"),)
    first = body[0]
    if going_on != [first] or not isinstance(first, ast.Assign):
        return None
    (target,) = first.targets if len(first.targets) == 1 else (None,)
    names = {n.id for n in walk(method) if isinstance(n, ast.Name)}
    if not isinstance(target, ast.Attribute) or spelled(target.value) != this or target.attr in names:
        return None
    text = f"{target.attr} = {{0}}\n{call}\n{spelled(target)} = {target.attr}"
    return (ReplaceStatement(first, text, (first.value,)),)


def _goes_on(statement: ast.Assign | ast.AugAssign) -> bool:
    """Whether what an attribute has becomes something else."""
    if isinstance(statement, ast.AugAssign):
        return True
    read = {spelled(n) for n in ast.walk(statement.value) if isinstance(n, ast.Attribute)}
    return any(spelled(target) in read for target in statement.targets)
