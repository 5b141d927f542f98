"""Functions in view that hooks are made of: what they are given to may call them in any pass."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from autodetach.kept import kept
from autodetach.machine.children import walk
from autodetach.machine.program_values import Instance
from autodetach.machine.spelling import arguments_of, last_word
from autodetach.machine.values import Value
from autodetach.node_types import CALLABLES, FunctionNode
from autodetach.view.program import Program

REGISTERING = "hook"
"""What is in the names of all methods that take a hook."""


def hooks_of(
    program: Program, known: dict[str, list[FunctionNode]], value: Callable[[ast.expr], Value]
) -> Iterator[ast.stmt | ast.expr]:
    """The bodies of all hooks: lambdas, functions and methods, those that a function makes, and objects."""
    from autodetach.view.called_with import functions_of_call

    for hook in (hook for tree in program.analysis.trees for hook in _given_as_hooks(tree)):
        if isinstance(hook, ast.Lambda):
            yield hook.body
            continue
        called = hook.func if isinstance(hook, ast.Call) else hook
        functions = list(known.get(last_word(called), ()))
        if isinstance(this := value(hook), Instance):
            functions += functions_of_call(program, this, known)
        for function in functions:
            yield from function.body
            for inner in walk(function):
                if inner is not function and isinstance(inner, CALLABLES):
                    yield from [inner.body] if isinstance(inner, ast.Lambda) else inner.body


def makers_of_hooks(program: Program) -> Iterator[ast.Call]:
    """The calls that give a hook: `register_forward_hook(keep_in(seen))`."""
    given = (hook for tree in program.analysis.trees for hook in _given_as_hooks(tree))
    return (hook for hook in given if isinstance(hook, ast.Call))


@kept
def _given_as_hooks(tree: ast.Module) -> list[ast.expr]:
    calls = (n for n in walk(tree) if isinstance(n, ast.Call))
    return [a for call in calls if REGISTERING in last_word(call.func) for a in arguments_of(call)]
