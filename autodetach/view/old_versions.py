"""Places for one version of PyTorch or another, which the program chooses among by itself."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.exceptions import TRY, handles
from autodetach.node_types import DEFINITIONS, JUMPS
from autodetach.view.program import Program


def is_chosen_by_version(program: Program, node: ast.expr, error: str) -> bool:
    """Whether what raises `error` stands under a test of the version, or beside what does the same in another one."""
    inner: ast.AST = node
    for at in program.enclosing(node):
        if isinstance(at, TRY) and _is_tried(at, inner, error):
            return True
        if isinstance(at, (ast.If, ast.IfExp)) and inner is not at.test and _asks_version(program, at.test):
            return True
        if isinstance(inner, ast.stmt) and any(_asks_version(program, test) for test in _left_before(program, inner)):
            return True
        if isinstance(at, DEFINITIONS):
            return False
        inner = at
    return False


def _is_tried(node: ast.Try, inner: ast.AST, error: str) -> bool:
    """In the body, with a handler that takes the value by `item()`; or in a handler, where the body does."""
    if inner in node.body:
        return any(handles(h, error) and _takes_item(h.body) for h in node.handlers)
    return isinstance(inner, ast.ExceptHandler) and _takes_item(node.body)


def _takes_item(body: list[ast.stmt]) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "item" for statement in body for n in ast.walk(statement))


def _left_before(program: Program, statement: ast.stmt) -> Iterator[ast.expr]:
    """The tests behind whose bodies nobody comes to a statement of the same block: `if new: return loss.item()`."""
    block = program.block(statement)
    before = block[: block.index(statement)] if statement in block else []
    yield from (s.test for s in before if isinstance(s, ast.If) and isinstance(s.body[-1], JUMPS))


def _asks_version(program: Program, test: ast.expr) -> bool:
    """`torch.__version__ < "0.4"`, `hasattr(loss, "item")`, or a name of the file that stands for such a test."""
    nodes = list(ast.walk(test))
    named = {n.id for n in nodes if isinstance(n, ast.Name)}
    for statement in program.file_of(test).body:
        targets = statement.targets if isinstance(statement, ast.Assign) else []
        if isinstance(statement, ast.Assign) and any(isinstance(t, ast.Name) and t.id in named for t in targets):
            nodes += ast.walk(statement.value)
    names = {n.id for n in nodes if isinstance(n, ast.Name)} | {n.attr for n in nodes if isinstance(n, ast.Attribute)}
    asks_item = any(isinstance(n, ast.Constant) and n.value == "item" for n in nodes)
    return any("version" in name.lower() for name in names) or ("hasattr" in names and asks_item)
