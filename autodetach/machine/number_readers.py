"""Where a number is told from a tensor, or leaves for what is not followed: none may come in the place of a tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.machine.core import Core, tags_in
from autodetach.machine.events import Escape
from autodetach.machine.graph import Site
from autodetach.machine.spelling import spelled
from autodetach.machine.values import External, Opaque, Sym, Value

NUMBERS = frozenset("int float bool complex Number Complex Real Rational Integral ndarray".split())
"""Types of what has no history, numbers and arrays of them."""
OF_HISTORY = "#of history"
"""Marks the type of something that was differentiated."""
SCRIPTED = "#scripted"
"""Marks a function that PyTorch compiles: what it takes for a tensor must be one."""


def wanted(m: Core, values: Iterable[Value], site: Site, how: str) -> None:
    """Some values go where a tensor may be wanted: which `.item()` gave the numbers among them is noted."""
    tags = frozenset(tag for value in values for tag in tags_in(value))
    if tags:
        m.escapes.append(Escape((), site, m.tick(), how, tags))


def asked_for_type(m: Core, value: Value, site: Site) -> None:
    """The type of a value is asked, and a tensor would answer otherwise than a number does."""
    if type(value) is Sym and value.tags and not (m.trail and _is_converted(m, site.node)):
        wanted(m, [value], site, "type")


def is_differentiated(value: Value) -> bool:
    """Whether something of which nothing else is known was differentiated: it is a tensor, or what holds some."""
    if not isinstance(value, Opaque) or value.node is None:
        return False
    return bool(value.node.walked_by) and not value.node.weak


def are_apart(left: Value, right: Value) -> bool:
    """Whether one is the type of something that was differentiated, and the other one that of numbers."""
    pairs = ((left, right), (right, left))
    return any(
        isinstance(a, Opaque) and OF_HISTORY in a.attrs and isinstance(b, External) and b.name in NUMBERS
        for a, b in pairs
    )


def _is_converted(m: Core, test: ast.AST) -> bool:
    """Whether a test only chooses how a value is written: `v.item() if torch.is_tensor(v) else v`, and the like."""
    statement, frame = m.trail[-1]
    if not isinstance(test, ast.Call) or not test.args:
        return False
    asked = spelled(test.args[0])
    choices = [n for n in ast.walk(statement) if isinstance(n, ast.IfExp) and test in ast.walk(n.test)]
    if choices:
        return _mentions([choices[-1].body], asked) and _mentions([choices[-1].orelse], asked)
    function = frame.function.node if frame.function is not None else None
    if isinstance(function, ast.Lambda) and isinstance(function.body, ast.IfExp):
        return _mentions([function.body.body], asked) and _mentions([function.body.orelse], asked)
    if not isinstance(statement, ast.If) or test not in ast.walk(statement.test):
        return False
    if statement.orelse:
        return _mentions(statement.body, asked) and _mentions(statement.orelse, asked)
    if _returns(statement.body, asked) and function is not None:
        return _returns([function], asked) > _returns(statement.body, asked)
    return any(asked in map(spelled, n.targets) for n in statement.body if isinstance(n, ast.Assign))


def _mentions(nodes: Iterable[ast.AST], name: str) -> bool:
    return any(isinstance(n, ast.expr) and spelled(n) == name for node in nodes for n in ast.walk(node))


def _returns(nodes: Iterable[ast.AST], name: str) -> int:
    """How many statements return what is made of a value."""
    return sum(isinstance(n, ast.Return) and _mentions([n], name) for node in nodes for n in ast.walk(node))
