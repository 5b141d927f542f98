"""The method of an object that does nothing but empty what it holds, as `reset()` of a recorder."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.machine.children import targets_of, walk
from autodetach.machine.classes import linear_order
from autodetach.machine.program_values import Class, Function
from autodetach.machine.spelling import spelled
from autodetach.view.holders import Holder
from autodetach.view.program import call_of

EMPTY = frozenset("list dict set deque OrderedDict".split())
"""What makes an empty container if it is given nothing."""


def emptying(lists: Iterable[Holder], attributes: set[str]) -> str | None:
    """The call of a method that does nothing but empty what the object of these lists holds, if it has one.

    `attributes` are those in which they stand.
    """
    held = {(h.owner, h.text.removesuffix(h.rest)) for h in lists}
    owner, prefix = held.pop()
    if held or owner is None or not isinstance(owner.cls, Class):
        return None
    for cls in linear_order(owner.cls):
        for name, method in cls.names.items() if isinstance(cls, Class) else ():
            node = method.node if isinstance(method, Function) else None
            if isinstance(node, ast.FunctionDef) and not name.startswith("__") and only_empties(node, attributes):
                return f"{prefix}.{name}()"
    return None


def only_empties(method: ast.FunctionDef, attributes: set[str]) -> bool:
    """Whether a method without arguments only empties containers, or makes them anew, and mentions these attributes."""
    spec, body = method.args, behind_docstring(method)
    is_plain = len(spec.args) == 1 and not (spec.posonlyargs or spec.kwonlyargs or spec.vararg or spec.kwarg)
    if not is_plain or method.decorator_list or not all(empties(statement) for statement in body):
        return False
    return attributes <= {inner.attr for inner in walk(method) if isinstance(inner, ast.Attribute)}


def empties(statement: ast.stmt) -> bool:
    """Whether a statement does nothing but empty containers."""
    if isinstance(statement, ast.For):
        return not statement.orelse and all(empties(inner) for inner in statement.body)
    if isinstance(statement, ast.Delete):
        return all(isinstance(t, ast.Subscript) and spelled(t.slice) == ":" for t in statement.targets)
    if isinstance(statement, (ast.Assign, ast.AnnAssign)):
        return all(isinstance(t, (ast.Attribute, ast.Subscript)) for t in targets_of(statement)) and is_empty(
            statement.value
        )
    call = call_of(statement)
    return call is not None and isinstance(call.func, ast.Attribute) and call.func.attr == "clear" and not call.args


def behind_docstring(function: ast.FunctionDef) -> list[ast.stmt]:
    """What a function does."""
    return function.body[1:] if ast.get_docstring(function) is not None else function.body


def is_empty(value: ast.expr | None) -> bool:
    """`[]`, `{}`, `deque()`, `defaultdict(list)`."""
    if isinstance(value, ast.List):
        return not value.elts
    if isinstance(value, ast.Dict):
        return not value.keys
    if not isinstance(value, ast.Call):
        return False
    kind = spelled(value.func).rpartition(".")[2]
    return kind == "defaultdict" or (kind in EMPTY and not value.args)
