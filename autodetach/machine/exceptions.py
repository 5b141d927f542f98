"""Who catches an exception: the handlers of a `try`, contexts that swallow it, tests that expect it."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from autodetach.machine.classes import linear_order
from autodetach.machine.program_values import Class, External, Frame, Function, Instance, Method
from autodetach.machine.spelling import called_name, last_word
from autodetach.machine.values import Opaque, Sequence, Sym, Value
from autodetach.node_types import DEFINITIONS

CATCH_ALL = ("Exception", "BaseException")
CATCHES_FAULTS = ("RuntimeError", *CATCH_ALL)
"""What PyTorch raises, and what that derives from."""
TRY: tuple[type[ast.Try], ...] = (ast.Try, getattr(ast, "TryStar", ast.Try))
GROUPS = frozenset({"ExceptionGroup", "BaseExceptionGroup"})
WITH = (ast.With, ast.AsyncWith)


def handles(handler: ast.ExceptHandler, name: str, value: Value = None, frame: Frame | None = None) -> bool:
    """Whether a handler catches an exception of a class, by the names of the class and its bases.

    In a known frame, also by what a variable of it is that stands for the class.
    """
    if handler.type is None:
        return True
    names = {n.id for n in ast.walk(handler.type) if isinstance(n, ast.Name)}
    if frame is not None:
        names |= {meant for n in tuple(names) for meant in _meant_by(n, frame)}
    names |= {n.attr for n in ast.walk(handler.type) if isinstance(n, ast.Attribute)}
    return catches(names, name, value)


def catches(names: AbstractSet[str], name: str, value: Value = None) -> bool:
    """Whether an exception of a class is caught by one of some names."""
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


def _meant_by(name: str, frame: Frame) -> set[str]:
    """The classes that a variable of a function stands for; of an argument that is not known, all of them."""
    if frame.function is None or name not in frame.names:
        return set()
    value = frame.names[name]
    arguments = frame.function.node.args
    is_argument = any(a.arg == name for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs))
    if isinstance(value, (Opaque, Sym)):
        return set(CATCH_ALL) if is_argument else set()
    return classes_named(value)


def classes_named(value: Value) -> set[str]:
    """The names of a class of exceptions, or of those in a tuple."""
    if isinstance(value, Sequence):
        return {name for item in value.items for name in classes_named(item)}
    return {value.name} if isinstance(value, (Class, External)) else set()


def handler_for(
    node: ast.stmt, name: str, value: Value = None, frame: Frame | None = None
) -> ast.ExceptHandler | None:
    """The handler of a `try` that catches an exception: of `except*`, the first one where several come in a group."""
    assert isinstance(node, TRY)
    found = next((h for h in node.handlers if handles(h, name, value, frame)), None)
    return node.handlers[0] if found is None and type(node) is not ast.Try and name in GROUPS else found


def expects_runtime_error(node: ast.stmt, frame: Frame) -> bool:
    """Whether a `try` has a handler for what autograd raises, or drops all that is raised in it."""
    assert isinstance(node, TRY)
    return any(handles(h, "RuntimeError", None, frame) for h in node.handlers) or drops_errors(node)


def drops_errors(node: ast.stmt) -> bool:
    """Whether the `finally` of a `try` leaves it by `return`, `continue` or `break`: nobody gets what was raised."""
    return isinstance(node, TRY) and any(_jumps_out(statement) for statement in node.finalbody)


def _jumps_out(node: ast.AST, jumps: tuple[type[ast.AST], ...] = (ast.Return, ast.Continue, ast.Break)) -> bool:
    """Whether what stands in a statement may leave it: out of its own loops, by `return` only."""
    if isinstance(node, jumps):
        return True
    if isinstance(node, (*DEFINITIONS, ast.Lambda)):
        return False
    inner = (ast.Return,) if isinstance(node, (ast.For, ast.AsyncFor, ast.While)) else jumps
    return any(_jumps_out(child, inner) for child in ast.iter_child_nodes(node))


def expects_error(context: ast.expr) -> bool:
    """Whether what stands in a context must raise: `pytest.raises(ValueError)`, `self.assertRaisesRegex(...)`."""
    name = called_name(context)
    return name == "raises" or name.startswith("assertRaises")


def takes(statement: ast.stmt, name: str, frame: Frame | None = None) -> bool:
    """Whether an open statement takes an exception of this name, and does not hand it on."""
    if isinstance(statement, TRY):
        handler = handler_for(statement, name, None, frame)
        return drops_errors(statement) or (handler is not None and not isinstance(handler.body[-1], ast.Raise))
    return isinstance(statement, WITH) and any(_expects(item.context_expr, name) for item in statement.items)


def is_ready_for(trail: Iterable[tuple[ast.stmt, Frame]], name: str) -> bool:
    """Whether one of the open statements handles an exception of this name: a `try`, or a context that expects it."""
    for statement, frame in trail:  # asked at every call: a generator would take longer
        if isinstance(statement, TRY):
            if any(handles(h, name, None, frame) for h in statement.handlers) or drops_errors(statement):
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
    """Whether an `__exit__`, or what stands for one, can return anything but None and False."""
    if isinstance(exit_, Method):
        exit_ = exit_.function
    if isinstance(exit_, Function) and isinstance(exit_.node, ast.Lambda):
        return not (isinstance(exit_.node.body, ast.Constant) and not exit_.node.body.value)
    return isinstance(exit_, Function) and any(
        isinstance(n, ast.Return)
        and n.value is not None
        and not (isinstance(n.value, ast.Constant) and not n.value.value)
        for n in ast.walk(exit_.node)
    )
