"""Whether a layer that works in place changes what something else holds."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.made import doubt_of_holders, is_new, made_in_scope
from autodetach.container_methods import ADDING
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.events import StaleSaved
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Tensor
from autodetach.node_types import FUNCTIONS, LOOPS
from autodetach.view.entered import has_forward_hooks
from autodetach.view.program import Program, text

HOOKED = "a hook that has the changed tensor keeps the value that it had"


def doubt_of_layer(program: Program, event: StaleSaved, call: ast.Call) -> str | None:
    """Why a new tensor may not be meant for what a call changes: others may hold the old one.

    A chain of layers has made what it changes by itself: only hooks, and what one of its layers keeps, have that.
    """
    if has_forward_hooks(program):
        return HOOKED
    if event.node.site is event.changed:
        return f"`{text(call)}` may keep what it changes" if _is_kept_inside(program, call) else None
    given = next((e for e, v in event.changed.operands if isinstance(v, Tensor) and v.storage is event.storage), None)
    if isinstance(given, (ast.Name, ast.Attribute)):
        doubt = doubt_of_holders(program, spelled(given), made_in_scope(program, call, spelled(given)), call)
        is_read = any(True for _ in _reads_behind(program, given, call))
        return doubt or (f"`{spelled(given)}` is read again, and keeps the value that it had" if is_read else None)
    return None if given is not None and is_new(program, given) else "what else holds that keeps the value that it had"


def _is_kept_inside(program: Program, call: ast.Call) -> bool:
    """Whether the `forward` of another network in view keeps what it is given; it may stand in the chain."""
    around = program.enclosing(call)
    for node in (n for tree in program.analysis.trees for n in walk(tree)):
        if isinstance(node, FUNCTIONS) and node.name in ("forward", "__call__") and node not in around:
            names = all_parameter_names(node.args)
            reads = (n for n in walk(node) if isinstance(n, ast.Name) and n.id in names)
            if any(_is_stored(program, read) for read in reads):
                return True
    return False


def _is_stored(program: Program, read: ast.Name) -> bool:
    around = program.parents.get(read)
    if isinstance(around, ast.Call):
        return last_word(around.func) in ADDING
    return isinstance(around, ast.Assign) and not all(isinstance(t, ast.Name) for t in around.targets)


def _reads_behind(program: Program, given: ast.Name | ast.Attribute, call: ast.Call) -> Iterator[ast.AST]:
    """Where what a call was given is read behind it, and does not mean what that call gave."""
    statement = program.statement(call)
    name = spelled(given)
    if isinstance(statement, ast.Assign) and [spelled(t) for t in statement.targets] == [name]:
        return
    made = made_in_scope(program, call, name)
    around = program.enclosing(call)
    again = any(isinstance(at, LOOPS) and (made is None or at not in program.enclosing(made)) for at in around)
    for node in walk(program.scope(call)):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load) and spelled(node) == name:
            is_behind = (node.lineno, node.col_offset) > (given.lineno, given.col_offset)
            if node is not given and (again or is_behind):
                yield node
