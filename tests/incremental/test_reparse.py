"""A tree that shares statements with the one before the edit is the tree of the edited text."""

from __future__ import annotations

import ast
import random
from pathlib import Path

import pytest

from autodetach.incremental.reparse import reparsed
from autodetach.source import Source

FIXTURES = sorted((Path(__file__).parent.parent.parent / "fixtures").rglob("*.before.py"))
INSERTED = ("x = 1", "    y = 2", "else:", "@property", '"""', "# nothing", "", "(", "\\", "elif x: pass", "a; b")


def source(text: str) -> Source:
    return Source.from_bytes(text.encode(), "x.py")


def dumped(text: str) -> str | None:
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return None


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_the_tree_of_an_edited_text(path: Path) -> None:
    """Lines are taken out, put in and changed at random; many of these texts are wrong, and must be told to be."""
    text = path.read_text(encoding="utf-8")
    old = source(text)
    tree = ast.parse(text)
    before = ast.dump(tree, include_attributes=True)
    chance = random.Random(path.name)
    for _ in range(12):
        lines = text.splitlines(keepends=True)
        at = chance.randrange(len(lines) + 1)
        if at < len(lines) and chance.random() < 0.4:
            del lines[at]
        else:
            lines.insert(at, chance.choice(INSERTED) + "\n")
        new = "".join(lines)
        made = reparsed(tree, old, source(new))
        if made is not None:
            assert ast.dump(made) == dumped(new)
    assert ast.dump(tree, include_attributes=True) == before


def test_what_is_not_touched_is_shared() -> None:
    text = "import a\n\n\ndef f():\n    return 1\n\n\ndef g():\n    return 2\n"
    tree = ast.parse(text)
    made = reparsed(tree, source(text), source(text.replace("1", "1 + 1")))
    assert made is not None
    assert [new is old for new, old in zip(made.body, tree.body, strict=True)] == [True, False, True]
    assert made.body[1].body[0].lineno == 5  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a; b\nc\n", "a; d\nc\n"),
        ("a\nb; c\n", "d\nb; c\n"),
        ("if a:\n    b\nc\n", "if a:\n    b\nelse:\n    d\nc\n"),
        ("def f(): pass\n", "@g\ndef f(): pass\n"),
        ("a\\\n= 1\nb\n", "a\\\n= 2\nb\n"),
        ("x = 1\n", ""),
        ("", "x = 1\n"),
        ("a\r\nb\r\nc", "a\r\nd\r\nc"),
        ("x = '''\na\n'''\ny\n", "x = '''\nb\n'''\ny\n"),
    ],
)
def test_small_ones(old: str, new: str) -> None:
    made = reparsed(ast.parse(old), source(old), source(new))
    assert made is None or ast.dump(made) == dumped(new)
