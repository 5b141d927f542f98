"""Who catches an exception: the handlers of a `try`, contexts that swallow it, tests that expect it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable

from autodetach.machine.classes import linear_order
from autodetach.machine.program_values import Class, External, Function, Instance
from autodetach.machine.spelling import called_name, last_word
from autodetach.machine.values import Value

CATCH_ALL = ("Exception", "BaseException")
CATCHES_FAULTS = ("RuntimeError", *CATCH_ALL)
"""What PyTorch raises, and what that derives from."""
TRY: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))
GROUPS = frozenset({"ExceptionGroup", "BaseExceptionGroup"})
WITH = (ast.With, ast.AsyncWith)


def handles(handler: ast.ExceptHandler, name: str, value: Value = None) -> bool:
    """Whether a handler catches an exception of a class, by the names of the class and its bases."""
    if handler.type is None:
        return True
    names = {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}
    names |= {n.attr for n in ast.walk(handler.type) if isinstance(n, ast.Attribute)}
    kinds = {name, *CATCH_ALL}
    known = getattr(builtins, name, None)
    if isinstance(known, type):
        kinds |= {base.__name__ for base in known.__mro__}
    if isinstance(value, Instance):
        for base in linear_order(value.cls) if isinstance(value.cls, Class) else []:
            kinds.add(base.name)
            known = getattr(builtins, base.name, None) if isinstance(base, External) else None
            kinds |= {c.__name__ for c in known.__mro__} if isinstance(known, type) else set()
    return bool(names & kinds)


def handler_for(node: ast.stmt, name: str, value: Value = None) -> ast.ExceptHandler | None:
    """The handler of a `try` that catches an exception: of `except*`, the first one where several come in a group."""
    assert isinstance(node, TRY)
    found = next((h for h in node.handlers if handles(h, name, value)), None)
    return node.handlers[0] if found is None and type(node) is not ast.Try and name in GROUPS else found


def expects_runtime_error(node: ast.stmt) -> bool:
    """Whether a `try` has a handler for what autograd raises."""
    assert isinstance(node, TRY)
    return any(handles(h, "RuntimeError") for h in node.handlers)


def expects_error(context: ast.expr) -> bool:
    """Whether what stands in a context must raise: `pytest.raises(ValueError)`, `self.assertRaisesRegex(...)`."""
    name = called_name(context)
    return name == "raises" or name.startswith("assertRaises")


def is_ready_for(trail: Iterable[tuple[ast.stmt, object]], name: str) -> bool:
    """Whether one of the open statements handles an exception of this name: a `try`, or a context that expects it."""
    for statement, _ in trail:  # asked at every call: a generator would take longer
        if isinstance(statement, TRY):
            if any(handles(h, name) for h in statement.handlers):
                return True
        elif isinstance(statement, WITH) and any(_expects(item.context_expr, name) for item in statement.items):
            return True
    return False


def handles_and_goes_on(statement: ast.stmt, name: str) -> bool:
    """Whether a statement handles an exception of this name, and what stands behind it may run then in the same pass.

    A `return` leaves the function, but who called it may go on.
    """
    if isinstance(statement, TRY):
        handlers = [h for h in statement.handlers if handles(h, name)]
        return any(not isinstance(h.body[-1], (ast.Continue, ast.Break, ast.Raise)) for h in handlers)
    return isinstance(statement, WITH) and any(_expects(item.context_expr, name) for item in statement.items)


def _expects(context: ast.expr, name: str) -> bool:
    """`contextlib.suppress(TypeError)`, `pytest.raises(TypeError)`, `self.assertRaises(TypeError)`."""
    if not isinstance(context, ast.Call) or not (called_name(context) == "suppress" or expects_error(context)):
        return False
    named = {last_word(n) for argument in context.args for n in ast.walk(argument) if isinstance(n, ast.expr)}
    return name in named or not named.isdisjoint(CATCH_ALL)


def suppresses_runtime_error(context: ast.expr) -> bool:
    """`contextlib.suppress(RuntimeError)`."""
    if not isinstance(context, ast.Call) or called_name(context) != "suppress":
        return False
    arguments = context.args
    return any(isinstance(n, ast.Name) and n.id in CATCHES_FAULTS for a in arguments for n in ast.walk(a))


def may_swallow(exit_: Value) -> bool:
    """Whether an `__exit__` can return anything but None and False."""
    return isinstance(exit_, Function) and any(
        isinstance(n, ast.Return)
        and n.value is not None
        and not (isinstance(n.value, ast.Constant) and not n.value.value)
        for n in ast.walk(exit_.node)
    )
