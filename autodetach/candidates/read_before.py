"""Whether somebody reads what statements bind before a loop, into which they would move, makes its first pass."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.program_values import Instance
from autodetach.machine.run import Run
from autodetach.machine.spelling import arguments_of
from autodetach.node_types import CALLABLES, FUNCTIONS, CallableNode
from autodetach.view.called_with import functions_of_call
from autodetach.view.program import Program, line
from autodetach.view.read_by import found, frame_of, functions_by_name, read_by

CALLED = ("forward", "__call__")


def is_read_before(program: Program, run: Run, statements: list[ast.stmt], anchor: ast.stmt) -> bool:
    """Whether the names and attributes that statements bind are read between them and the loop that begins so.

    Read by what stands there, or by a function that it may run.
    """
    between = list(_between(program, statements, anchor))
    inside = {n for s in between for n in ast.walk(s)}
    readers: set[CallableNode] = set()
    for read in _reads(program, statements):
        around = _function_around(program, read, program.scope(anchor))
        if around is None and read in inside:
            return True
        if around is not None:
            readers.add(around)
    return bool(readers and between) and _may_run(program, run, readers, between, anchor)


def _reads(program: Program, statements: list[ast.stmt]) -> Iterator[ast.Name | ast.Attribute]:
    """Where what the statements bind is read, but for themselves."""
    own = {n for s in statements for n in ast.walk(s)}
    bound = {n.id for n in own if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    kept = {n.attr for n in own if isinstance(n, ast.Attribute) and not isinstance(n.ctx, ast.Load)}
    home = program.scope(statements[0])
    names = (n for n in walk(home) if isinstance(n, ast.Name) and n.id in bound and n not in own)
    yield from (n for n in names if isinstance(n.ctx, ast.Load) and not _is_local(program, n, home))
    for tree in program.analysis.trees if kept else ():
        parts = (n for n in walk(tree) if isinstance(n, ast.Attribute) and n.attr in kept and n not in own)
        yield from (n for n in parts if isinstance(n.ctx, ast.Load))


def _is_local(program: Program, name: ast.Name, home: ast.AST) -> bool:
    """Whether a function between `home` and a name has a name of its own that is the same."""
    for at in program.enclosing(name):
        if at is home:
            return False
        if isinstance(at, CALLABLES):
            declared = {n for s in ast.walk(at) if isinstance(s, (ast.Global, ast.Nonlocal)) for n in s.names}
            stored = {n.id for n in ast.walk(at) if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
            if name.id not in declared and name.id in stored | all_parameter_names(at.args):
                return True
    return False


def _function_around(program: Program, node: ast.AST, home: ast.AST) -> CallableNode | None:
    """The outermost function inside of `home` whose run reads something, or another function that does; None if none.

    Its defaults and decorators are computed where it is defined.
    """
    outermost: CallableNode | None = None
    below = node
    for at in program.enclosing(node):
        if at is home:
            break
        if isinstance(at, CALLABLES) and (below is at.body or (isinstance(at, FUNCTIONS) and below in at.body)):
            outermost = at
        below = at
    return outermost


def _between(program: Program, statements: list[ast.stmt], anchor: ast.stmt) -> Iterator[ast.stmt]:
    """What runs between statements and the first pass of the loop that `anchor` begins, with what the loop is over."""
    home = program.scope(anchor)
    around = {*program.enclosing(anchor), *program.enclosing(statements[0])}
    first, last = line(statements[0]), line(anchor)
    pending: list[ast.AST] = [*ast.iter_child_nodes(home)]
    while pending:
        at = pending.pop()
        if at in statements or line(at) >= last:
            continue
        if isinstance(at, ast.stmt) and at not in around:
            if line(at) > first:
                yield at
        elif isinstance(at, ast.expr):
            if line(at) > first:
                yield ast.copy_location(ast.Expr(at), at)
        else:  # a statement around one of both, or a part of one
            pending += ast.iter_child_nodes(at)


def _may_run(program: Program, run: Run, readers: set[CallableNode], between: list[ast.stmt], anchor: ast.stmt) -> bool:
    """Whether statements may run one of some functions: they mention it or an object of it, or somebody was given it.

    What is called for something else than its name, as `__getitem__` is, may always run.
    """
    calls = [n for s in between for n in ast.walk(s) if isinstance(n, ast.Call)]
    reading = read_by(program, run, between)
    names = reading.names | reading.attributes
    for reader in readers:
        name = _name_of(program, reader)
        if reader in reading.functions or not name or name in names:
            return True
        if name.startswith("__") and name not in ("__init__", "__call__"):
            return True
        if calls and _is_given_away(program, name, anchor):
            return True
    known = functions_by_name(program)
    frame = frame_of(program, run, anchor)
    for call in calls:
        values = [found(frame, part) for part in (call.func, *arguments_of(call))]
        for value in values:
            if isinstance(value, Instance) and not readers.isdisjoint(functions_of_call(program, value, known)):
                return True
        name = call.func.id if isinstance(call.func, ast.Name) and values[0] is None else ""
        is_unknown = name and name not in known and name not in dir(builtins)
        if is_unknown and any(_name_of(program, reader) in CALLED for reader in readers):
            return True
    return False


def _name_of(program: Program, reader: CallableNode) -> str:
    """The name of a function, or that to which a `lambda` is assigned; nothing if it has none."""
    if not isinstance(reader, ast.Lambda):
        return reader.name
    statement = program.parents.get(reader)
    targets = statement.targets if isinstance(statement, ast.Assign) and statement.value is reader else []
    return targets[0].id if len(targets) == 1 and isinstance(targets[0], ast.Name) else ""


def _is_given_away(program: Program, name: str, anchor: ast.stmt) -> bool:
    """Whether a function is mentioned, but not called, by what does not stand in the loop or behind it."""
    for tree in program.analysis.trees:
        for node in walk(tree):
            word = node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""
            if word != name or isinstance(getattr(node, "ctx", None), ast.Store):
                continue
            around = program.parents.get(node)
            is_later = program.scope(node) is program.scope(anchor) and line(node) >= line(anchor)
            if not is_later and not (isinstance(around, ast.Call) and around.func is node):
                return True
    return False
