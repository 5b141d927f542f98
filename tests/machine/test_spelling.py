"""The text of a syntax node is the same with all Pythons: what is expected here is what Python 3.11 writes."""

from __future__ import annotations

import ast

import pytest
from calls import calls_of

from autodetach.machine.spelling import imported_by_call, spelled


@pytest.mark.parametrize(
    "text",
    [
        "for a, b in c:\n    pass",
        "a, b = c",
        "[a for a, (b, c) in d]",
        "lambda: a",
        "lambda a, *b: (a, b)",
        "f(*(a, b))",
        "x[a, b:c]",
        "return (a, b)",
        "()",
        "f\"{f('a')}\"",
        "f'{a!r:>{b}}'",
        'f"""{f(\'a\')}"b"""',
    ],
)
def test_spelling(text: str) -> None:
    tree = ast.parse(text).body[0]
    found = spelled(tree)
    assert found == text
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(text)), "it is the same program"


@pytest.mark.parametrize(
    "text",
    [
        "a.b(c, *d, e=-f, **g).h",
        "a(b(c))(d).e(f < g, 'h', [1, i], {j: k})",
        "(a + b).c(d)",
        "a[b].c(d)",
        "1 .real.is_integer()",
        "a((b for c in b), (c := d), (lambda: e), f if g else h)",
        "a((b, c), *(d, e), **f or g)",
        "a((yield), (await b), f'{c}')",
    ],
)
def test_calls_are_spelled_as_ast_does(text: str) -> None:
    node = ast.parse(text, mode="eval").body
    assert spelled(node) == ast.unparse(node)


def test_each_link_of_a_long_chain_is_spelled() -> None:
    node: ast.AST = ast.parse("w" + ".mul(k)" * 400, mode="eval").body
    assert calls_of(lambda: [spelled(link) for link in ast.walk(node)]) < 200_000


def test_what_cannot_be_written_is_named() -> None:
    """An f-string whose expression holds a backslash: Python before 3.12 refuses it, and no run ends for that."""
    part = ast.FormattedValue(ast.Constant("\\"), -1)
    tree = ast.JoinedStr([part])
    assert spelled(tree) in ("JoinedStr", "f'{'\\\\'}'", "f\"{'\\\\'}\"")


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ('importlib.import_module("a.b")', "a.b"),
        ('import_module(name="a")', "a"),
        ('import_module(".a", package="b")', "b.a"),
        ('import_module(".a", __package__)', ".a"),
        ('import_module("..a", "b.c")', ""),
        ('import_module(".a", package=here)', ""),
        ("import_module(f'a.{b}')", ""),
        ("import_module()", ""),
        ("__import__('a')", "a"),
        ("load('a')", ""),
    ],
)
def test_what_a_call_imports(text: str, name: str) -> None:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    assert imported_by_call(call) == name
