"""Errors that do not end a program: what is open takes them, and the program goes on behind it.

A `try` is not alone in that: a context may, `@contextmanager` makes one of a generator whose `yield` stands in a `try`,
a stack has entered such contexts, a test is told to fail, and tasks and pools keep what was raised for who asks.
Sources: https://docs.python.org/3/library/contextlib.html, https://docs.python.org/3/reference/datamodel.html#object.__exit__
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import TypeAlias

from autodetach.kept import kept
from autodetach.machine.children import children_of, nodes_in
from autodetach.machine.core import Core
from autodetach.machine.exceptions import TRY, WITH, catches, classes_named, is_ready_for, may_swallow, takes
from autodetach.machine.graph import Site
from autodetach.machine.program_values import Frame, Function, Instance, Native
from autodetach.machine.program_values import Iterable as Iterable_
from autodetach.machine.spelling import called_name, last_word
from autodetach.machine.values import Opaque, Value
from autodetach.node_types import DEFINITIONS

Takes: TypeAlias = Callable[[str], bool]
"""Whether something takes an exception of this name."""

FAULT = "RuntimeError"
"""What autograd raises."""
ANY = "Exception"
CAUGHT = "#caught"
"""The attribute of a context that says which exceptions it takes."""
TAKES = "#takes"
"""The attribute of a stack of contexts that tells whether any of them takes an exception."""
_TAKING: tuple[type[ast.Try] | type[ast.With] | type[ast.AsyncWith], ...] = (*TRY, *WITH)
MADE_TO_FAIL = frozenset({"expectedFailure", "xfail"})
"""Decorators of tests."""
MAX_DEEP = 4
"""So many contexts that generators make within each other are looked into."""
RESULTS = frozenset({"result", "get"})
"""Methods that raise what a pool has kept of an error."""


def expects_fault(m: Core) -> bool:
    """Whether something open takes what autograd raises."""
    return any(m.expecting) or any(takes_it(FAULT) for takes_it in m.taking)


def is_taken(m: Core, name: str) -> bool:
    """Whether something open is ready for an exception of this name."""
    return is_ready_for(m.trail, name) or any(takes_it(name) for takes_it in m.taking)


def is_meant(m: Core, name: str) -> bool:
    """Whether something open takes exceptions of this name, and not all there are."""
    own = any(takes(s, name, frame) and not takes(s, ANY, frame) for s, frame in m.trail if isinstance(s, _TAKING))
    return own or any(takes_it(name) and not takes_it(ANY) for takes_it in m.taking)


def is_swallowed(m: Core, name: str) -> bool:
    """Whether the program goes on behind an exception of this name, whatever it is that takes it."""
    own = any(takes(statement, name, frame) for statement, frame in m.trail if isinstance(statement, _TAKING))
    return own or any(takes_it(name) for takes_it in m.taking)



@contextmanager
def taking(m: Core, takes_it: Takes | None) -> Iterator[None]:
    """While something is open that takes errors, if it does."""
    if takes_it is None:
        yield
        return
    m.taking.append(takes_it)
    try:
        yield
    finally:
        m.taking.pop()


def anything(name: str) -> bool:
    """Takes whatever is raised."""
    return True


def taken_by(m: Core, context: Value) -> Takes | None:
    """What a context takes of what is raised in it, if it takes anything."""
    if isinstance(context, Opaque) and CAUGHT in context.attrs:
        names = classes_named(context.attrs[CAUGHT])
        return partial(catches, names)
    if isinstance(context, Instance):
        of_stack = context.attrs.get(TAKES)
        if isinstance(of_stack, Native):
            call, nowhere = of_stack.call, Site(ast.Pass(), "")
            return lambda name: bool(call([name], {}, nowhere))
        return anything if may_swallow(m.class_attribute(context.cls, "__exit__")) else None
    if isinstance(context, Iterable_) and context.once and context.frame is not None:
        return _taken_around_yield(context.frame)
    return None


def _taken_around_yield(frame: Frame) -> Takes | None:
    """`@contextmanager`: what is raised in the context is raised where the generator yields."""
    if frame.function is None:
        return None
    around = list(_around_yields(frame.function.node, ()))
    if not any(around):
        return None
    return lambda name: any(_takes_around(statement, name, frame) for each in around for statement in each)


def _takes_around(statement: ast.stmt, name: str, frame: Frame, deep: int = 0) -> bool:
    """Whether a statement around a `yield` takes an error, be it by a context that another generator makes."""
    if takes(statement, name, frame):
        return True
    if not isinstance(statement, WITH) or deep > MAX_DEEP:
        return False
    entered = [frame.top.names.get(called_name(item.context_expr)) for item in statement.items]
    return any(
        _takes_around(inner, name, made.frame or frame, deep + 1)
        for made in entered
        if isinstance(made, Function) and made.is_generator
        for each in _around_yields(made.node, ())
        for inner in each
    )


def _around_yields(node: ast.AST, around: tuple[ast.stmt, ...]) -> Iterator[tuple[ast.stmt, ...]]:
    """For each `yield`, the statements in whose bodies it stands that may take errors."""
    if isinstance(node, (ast.Yield, ast.YieldFrom)):
        yield around
    for name, field in ast.iter_fields(node):
        within = (*around, node) if isinstance(node, _TAKING) and name == "body" else around
        for child in field if isinstance(field, list) else [field]:
            if isinstance(child, ast.AST) and not isinstance(child, (*DEFINITIONS, ast.Lambda)):
                yield from _around_yields(child, within)


def failing(function: ast.AST) -> Takes | None:
    """`@unittest.expectedFailure`, `@pytest.mark.xfail(raises=RuntimeError)`: what a test may raise, if it may."""
    for decorator in getattr(function, "decorator_list", ()):
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if last_word(called) in MADE_TO_FAIL:
            raises = [k.value for k in getattr(decorator, "keywords", ()) if k.arg == "raises"]
            named = {last_word(n) for value in raises for n in ast.walk(value) if isinstance(n, ast.expr)}
            return partial(catches, named) if raises else anything
    return None


def are_given_back(m: Core) -> bool:
    """Whether the module gathers what coroutines give so that it gets errors, too: `return_exceptions=True`."""
    tree = _tree(m)
    return tree is not None and _gathers_errors(tree)


def are_asked_for(m: Core) -> bool:
    """Whether the module asks what a pool has run for its error, or takes what it raises where it asks for a result.

    Where nobody asks for either, the error is lost, too.
    """
    tree = _tree(m)
    return tree is not None and (_asks_for_error(tree) or not _asks_for_result(tree))


def _tree(m: Core) -> ast.Module | None:
    module = m.trail[-1][1].top.module if m.trail else None
    return None if module is None else module.tree


@kept
def _gathers_errors(tree: ast.Module) -> bool:
    return any(
        k.arg == "return_exceptions" and not (isinstance(k.value, ast.Constant) and not k.value.value)
        for call in nodes_in(tree)
        if isinstance(call, ast.Call)
        for k in call.keywords
    )


@kept
def _asks_for_error(tree: ast.Module) -> bool:
    """`future.exception()`, which a logger is given a text for."""
    calls = (call for call in nodes_in(tree) if isinstance(call, ast.Call))
    return any(called_name(call) == "exception" and not call.args for call in calls)


@kept
def _asks_for_result(tree: ast.Module) -> bool:
    """`future.result()`, `job.get()`: where nothing around it in the same function takes what it raises."""
    return _has_question(tree)


def _has_question(node: ast.AST) -> bool:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RESULTS:
        return True
    taken = node.body if isinstance(node, _TAKING) and takes(node, FAULT) else []
    return any(_has_question(child) for child in children_of(node) if child not in taken)
