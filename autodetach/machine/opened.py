"""Contexts that a program enters and leaves by itself, without a `with`: `ExitStack`, and those that say so.

Source: https://docs.python.org/3/library/contextlib.html#contextlib.ExitStack
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import TypeAlias

from autodetach.machine.core import Core
from autodetach.machine.exceptions import expects_error, may_swallow
from autodetach.machine.graph import Site
from autodetach.machine.program_values import External, Instance, Native
from autodetach.machine.state import Raised
from autodetach.machine.swallowing import TAKES, Takes, anything, taken_by
from autodetach.machine.values import Value

STACK = "contextlib.ExitStack"
UNWIND = "#unwind"
"""The attribute of a context that leaves all that has been entered by it, with what was raised."""

Leave: TypeAlias = Callable[[Raised | None], bool]
"""Leaves a context, with what was raised in it, and says whether it swallows that."""


def exit_stack(m: Core, args: list[Value], kwargs: dict[str, Value], site: Site) -> Instance:
    """`contextlib.ExitStack()`."""
    return _stack_of(m, [])


def unwind(stack: Instance, error: Raised | None, site: Site) -> bool:
    """Leave what a stack has entered, the last first; whether that swallows what was raised."""
    return bool(stack.attrs[UNWIND].call([error], {}, site))


def _stack_of(m: Core, leaves: list[tuple[Leave, Takes | None]]) -> Instance:
    stack = _object(m, STACK)

    def enter_context(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        context = args[0] if args else kwargs.get("cm")
        entered, leave = m.open_context(context, site)
        takes_it = taken_by(m, context)
        call = site.node
        if takes_it is None and isinstance(call, ast.Call) and any(expects_error(argument) for argument in call.args):
            takes_it = anything
        leaves.append((leave, takes_it))
        return entered

    def callback(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        function = args[0] if args else None

        def leave(error: Raised | None) -> bool:
            m.call(function, args[1:], kwargs, site)
            return False

        leaves.append((leave, None))
        return function

    def push(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        exit_ = args[0] if args else kwargs.get("exit")
        of_context = isinstance(exit_, Instance)

        def leave(error: Raised | None) -> bool:
            if of_context:
                return error is not None and takes_it is not None and takes_it(error.name)
            m.call(exit_, [None, None, None], {}, site)
            return error is not None and takes_it is not None

        takes_it = taken_by(m, exit_) if of_context else anything if may_swallow(exit_) else None
        leaves.append((leave, takes_it))
        return exit_

    def takes(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        name = args[0]
        return isinstance(name, str) and any(one is not None and one(name) for _, one in leaves)

    def pop_all(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        moved = _stack_of(m, list(leaves))
        leaves.clear()
        return moved

    def leave_all(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        swallows, error = False, args[0] if args else None
        while leaves:
            swallows = leaves.pop()[0](None if swallows else error) or swallows
        return swallows

    def close(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        leave_all([], {}, site)
        return None

    methods: dict[str, Callable[[list[Value], dict[str, Value], Site], Value]] = {
        "enter_context": enter_context, "push": push, TAKES: takes,
        "callback": callback, "pop_all": pop_all, "close": close, UNWIND: leave_all,
    }  # fmt: skip
    for name, method in methods.items():
        stack.attrs[name] = Native(name, method, stack)
    stack.attrs["__enter__"] = Native("__enter__", lambda args, kwargs, site: stack, stack)
    stack.attrs["__exit__"] = Native("__exit__", close, stack)
    return stack


def context_of(m: Core, path: str) -> Instance:
    """A context of the library, whose `__enter__` and `__exit__` do what a `with` does."""
    context = _object(m, path)
    leaves: list[Leave] = []

    def enter(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        entered, leave = m.open_context(context, site)
        leaves.append(leave)
        return entered

    def leave(args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        if leaves:
            leaves.pop()(None)
        return None

    context.attrs["__enter__"] = Native("__enter__", enter, context)
    context.attrs["__exit__"] = Native("__exit__", leave, context)
    return context


def _object(m: Core, path: str) -> Instance:
    made = Instance(External(path), m.serial(), m.clock)
    made.open = True
    return made
