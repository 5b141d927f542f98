"""What functions that are made inside of others close over."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.program_values import Frame, Function
from autodetach.machine.values import Value
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import CALLABLES


class ClosedOver(NamedTuple):
    """A value that a function keeps: of a `default`, or else the one that a `name` has in a `frame`."""

    value: Value
    default: ast.expr | None
    frame: Frame
    name: str


def closed_over(function: Function) -> Iterator[ClosedOver]:
    """What a function keeps for as long as it lives: its defaults, and what it reads of the calls that it was made in.

    The names of a file are there without it.
    """
    written, by_name = function.node.args.defaults, function.node.args.kw_defaults
    for values, defaults in ((function.defaults, written), (function.kwdefaults, by_name)):
        for value, default in zip(values, defaults, strict=False):
            yield ClosedOver(value, default, function.frame, "")
    if function.frame.outer is None:
        return
    for name in free_names(function.node):
        frame: Frame | None = function.frame
        while frame is not None and frame.outer is not None:
            if name in frame.names and not frame.is_class:
                yield ClosedOver(frame.names[name], None, frame, name)
                break
            frame = frame.outer


@kept
def free_names(node: ast.AST) -> tuple[str, ...]:
    """The names that a function reads, it or one inside of it, and does not bind itself."""
    bound, read, outer = set[str](), set[str](), set[str]()
    if isinstance(node, CALLABLES):
        given = node.args
        every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
        bound.update(arg.arg for arg in every if arg is not None)
    stack: list[ast.AST] = list(node.body) if isinstance(node, CALLABLES[:2]) else [getattr(node, "body", node)]
    while stack:
        n = stack.pop()
        if isinstance(n, ast.Name):
            (read if isinstance(n.ctx, ast.Load) else bound).add(n.id)
        elif isinstance(n, (ast.Global, ast.Nonlocal)):
            outer.update(n.names)
        elif isinstance(n, CALLABLES):
            read.update(free_names(n))
            stack += [default for default in (*n.args.defaults, *n.args.kw_defaults) if default is not None]
            if not isinstance(n, ast.Lambda):
                bound.add(n.name)
                stack += n.decorator_list
        else:
            stack.extend(ast.iter_child_nodes(n))
    return tuple(sorted(read - (bound - outer)))
