"""A loop writes into parts of a tensor that was saved as it was: it writes into a copy, made in front of the loop."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.copied import whole_view, written_tensor
from autodetach.candidates.made import doubt_of_holders, made_in_scope
from autodetach.machine.children import walk
from autodetach.machine.events import StaleSaved
from autodetach.machine.spelling import last_word, spelled
from autodetach.node_types import LOOPS
from autodetach.suspect import Candidate
from autodetach.view.program import Program, listed


def copied_before_loop(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    """`memory = memory.clone()` in front of a loop with `memory[:, j] = f(memory[:, j])`; it may read copies, too.

    The function has computed that tensor itself, or was given it and hands it back to who goes on with that alone.
    """
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.insert_statement import InsertStatement

    changed = event.changed.node
    written = written_tensor(changed)
    loop = _loop_around(program, changed)
    if not isinstance(written, ast.Name) or loop is None or written.id in program.names_bound(loop):
        return
    name = written.id
    made = made_in_scope(program, loop, name)
    if made is None and not _is_handed_back(program, changed, name):
        return
    copy = InsertStatement(loop, f"{name} = {name}.clone()", "before")
    message, doubt = f"write into a copy: `{name} = {name}.clone()`", doubt_of_holders(program, name, made, loop)
    yield Candidate(message, (copy,), doubt, last_resort=True)
    names = (n for n in walk(loop) if isinstance(n, ast.Name) and n.id == name)
    parts = [part for n in names if _is_read(part := whole_view(program, n))]
    if parts:
        reading = tuple(AppendMethod(part, "clone") for part in parts)
        message += f", and compute with a copy of {listed(parts)}"
        yield Candidate(message, (copy, *reading), doubt, last_resort=True)


def _loop_around(program: Program, node: ast.AST) -> ast.stmt | None:
    """The innermost loop of the same function around a node."""
    scope = program.scope(node)
    around = (at for at in program.enclosing(node) if isinstance(at, LOOPS))
    return next((at for at in around if program.scope(at) is scope), None)


def _is_read(part: ast.expr) -> bool:
    return isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load)


def _is_handed_back(program: Program, node: ast.AST, name: str) -> bool:
    """Whether a function returns what it was given under a name, and each call in view binds that as it was named."""
    function = program.scope(node)
    if not isinstance(function, ast.FunctionDef) or function.decorator_list:
        return False
    given = [a.arg for a in (*function.args.posonlyargs, *function.args.args)]
    own = [n for n in walk(function) if program.scope(n) is function]
    returned = [n.value for n in own if isinstance(n, ast.Return)]
    bound = any(isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load) for n in own)
    if name not in given or bound or not returned or any(v is None or spelled(v) != name for v in returned):
        return False
    is_method = isinstance(program.parents.get(function), ast.ClassDef)
    at = given.index(name) - is_method
    mentions = [
        n
        for tree in program.analysis.trees
        for n in walk(tree)
        if isinstance(n, (ast.Name, ast.Attribute)) and last_word(n) == function.name
    ]
    return bool(mentions) and all(_binds_argument(program, n, at, name) for n in mentions)


def _binds_argument(program: Program, func: ast.expr, at: int, name: str) -> bool:
    """Whether it is called there, `memory = damped(memory, 0.5)`, and the result takes the name of the argument."""
    call = program.parents.get(func)
    if not isinstance(call, ast.Call) or call.func is not func:
        return False
    statement = program.parents.get(call)
    if not isinstance(statement, ast.Assign) or statement.value is not call or len(statement.targets) > 1:
        return False
    named = [k.value for k in call.keywords if k.arg == name]
    positional = call.args[at : at + 1] if at >= 0 and not any(isinstance(a, ast.Starred) for a in call.args) else []
    (target,) = statement.targets
    return [spelled(a) for a in (*named, *positional)] == [spelled(target)]
