"""All that stands in a syntax tree is found."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from autodetach.machine.children import children_of, walk

ROOT = Path(__file__).parent.parent.parent
EMPTY = (ast.expr_context, ast.operator, ast.boolop, ast.unaryop, ast.cmpop)
PATTERNS = """
match x:
    case None | {"a": [1, *_], **rest} | Point(x=0, y=f.g) if y:
        global z
async def f(a, /, b: int = 1, *c, d, e=2, **g) -> int:
    async with a as b, c:
        yield {**a, b: [x async for x in y if x]}
"""


@pytest.mark.parametrize(
    "code", [PATTERNS, *(path.read_text() for path in sorted((ROOT / "autodetach" / "machine").glob("*.py")))]
)
def test_the_children_are_those_that_ast_finds_in_its_order(code: str) -> None:
    tree = ast.parse(code)
    for node in ast.walk(tree):
        assert children_of(node) == [c for c in ast.iter_child_nodes(node) if not isinstance(c, EMPTY)]
    for statement in tree.body:
        assert [*walk(statement)] == [node for node in ast.walk(statement) if not isinstance(node, EMPTY)]
    assert [*walk(tree)] == [tree, *(node for statement in tree.body for node in walk(statement))]
