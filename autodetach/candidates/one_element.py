"""Repairs for tables whose elements are made once and read one at a time: make the one that is read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.suspect import Candidate
from autodetach.view.program import Block, Program, text


def where_read(program: Program, statement: ast.stmt, body: Block, doubt: str | None) -> Iterator[Candidate]:
    """`rays = [rays_of(c) for c in range(n)]` is read as `rays[c]`, in one place of the loop's `body`, nowhere else."""
    from autodetach.codemods.inline_element import InlineElement
    from autodetach.codemods.replace_statement import ReplaceStatement

    made = _table(statement)
    if made is None or not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        return
    name = statement.targets[0]
    mentions = [
        n for n in walk(program.file_of(statement)) if isinstance(n, ast.Name) and n.id == name.id and n is not name
    ]
    read = program.parents.get(mentions[0]) if len(mentions) == 1 else None
    if not isinstance(read, ast.Subscript) or read.value is not mentions[0] or not isinstance(read.ctx, ast.Load):
        return
    around = list(program.enclosing(read))
    inside = any(s in around for s in body) and program.scope(read) is program.scope(statement)
    if inside and isinstance(read.slice, ast.Name) and _counts(around, read.slice.id):
        yield Candidate(
            f"compute `{text(made.elt)}` where `{text(read)}` is read",
            (InlineElement(read, made), ReplaceStatement(statement, "")),
            doubt,
        )


def _table(statement: ast.stmt) -> ast.ListComp | None:
    """The comprehension of `table = [f(i) for i in range(n)]`."""
    value = statement.value if isinstance(statement, ast.Assign) and len(statement.targets) == 1 else None
    if not isinstance(value, ast.ListComp) or len(value.generators) != 1:
        return None
    (generator,) = value.generators
    over = generator.iter
    if not (isinstance(over, ast.Call) and isinstance(over.func, ast.Name) and over.func.id == "range"):
        return None
    return value if len(over.args) == 1 and not generator.ifs and not generator.is_async else None


def _counts(around: list[ast.AST], name: str) -> bool:
    """Whether a name is what a loop around runs through, and nothing else."""
    loop = next((at for at in around if isinstance(at, ast.For) and _binds(at.target, name)), None)
    return loop is not None and not any(_binds(s, name) for s in loop.body)


def _binds(node: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Name) and n.id == name and not isinstance(n.ctx, ast.Load) for n in ast.walk(node))
