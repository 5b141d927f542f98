"""A tree that follows its text through edit after edit is the tree of that text, places included."""

from __future__ import annotations

import ast
import random
import warnings
from pathlib import Path

import pytest

from autodetach.incremental.follow import followed
from autodetach.source import Source

FIXTURES = sorted((Path(__file__).parent.parent.parent / "fixtures").rglob("*.before.py"))
STEPS = 60
INSERTED = (
    "x = 1", "else:", "@property", '"""', "# nothing", "", "(", "\\", "elif x: pass", "a; b", "a;", "def f(): pass",
    "class A:\n    b = 1", "for k in b:\n    c\nelse:\n    d", "try:\n    a\nexcept B:\n    c\nfinally:\n    d",
    "match a:\n    case 1:\n        b\n    case _:\n        c", "x = '''\na\n'''", "if a:\n\tb", "\x0cx = 1",
)  # fmt: skip


def source(text: str) -> Source:
    return Source.from_text(text, "x.py")


def dumped(tree: ast.AST) -> str:
    return ast.dump(tree, include_attributes=True)


def tree_of(text: str) -> ast.Module | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (SyntaxError, ValueError):
        return None


def edited(text: str, chance: random.Random) -> str:
    """Lines put in, taken out, indented, changed: many of these texts are wrong."""
    lines = text.splitlines(keepends=True)
    at = chance.randrange(len(lines) + 1)
    way = chance.random()
    if at < len(lines) and way < 0.3:
        del lines[at : at + chance.choice((1, 1, 1, 3))]
    elif at < len(lines) and way < 0.4:
        lines[at] = chance.choice(("    ", "\t", " ")) + lines[at]
    elif at < len(lines) and way < 0.5:
        lines[at] = lines[at].removeprefix("    ")
    elif at < len(lines) and way < 0.65:
        lines[at] = lines[at].rstrip("\r\n") + chance.choice(("  # said", " + 1", ";", "; y", "\\", "(")) + "\n"
    else:
        near = lines[min(at, len(lines) - 1)] if lines else ""
        indent = near[: len(near) - len(near.lstrip())].rstrip("\r\n") if chance.random() < 0.7 else ""
        new = chance.choice(INSERTED)
        lines.insert(at, "".join(f"{indent}{line}\n" for line in new.split("\n")))
    return "".join(lines)


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.name)
def test_a_tree_follows_its_text(path: Path) -> None:
    text = path.read_bytes().decode()
    tree = tree_of(text)
    assert tree is not None
    chance = random.Random(f"follow {path.name}")
    for _ in range(STEPS):
        new = edited(text, chance)
        whole = tree_of(new)
        patch = followed(tree, source(text), source(new))
        if patch is None:
            if whole is not None and chance.random() < 0.5:
                text, tree = new, whole
            continue
        assert whole is not None
        patch.make_room()
        patch.put(patch.fresh)
        text = new
        assert dumped(tree) == dumped(whole)


NESTED = """\
import a


class A:
    def f(self):
        for x in y:
            try:
                b
                c
            except E:
                d
        # nothing
        return 1

    def g(self):
        return 2


def h():
    return 3
"""


@pytest.mark.parametrize(
    ("old", "new", "parsed"),
    [
        ("                c\n", "                c2\n", ["c2"]),
        ("                c\n", "                c\n                c2\n", ["c2"]),
        ("                b\n", "", []),
        ("                d\n", "                d\n            d2\n", ["d2"]),
        ("        # nothing\n", "        # nothing\n        # more\n", []),
        ("        return 2\n", "        return 2\n    z = 1\n", ["z = 1"]),
        ("return 3\n", "return 3\n\n\nend = 1\n", ["end = 1"]),
    ],
)
def test_only_what_an_edit_touches_is_parsed(old: str, new: str, parsed: list[str]) -> None:
    tree = ast.parse(NESTED)
    text = NESTED.replace(old, new, 1)
    whole = tree_of(text)
    patch = followed(tree, source(NESTED), source(text))
    if whole is None:
        assert patch is None
        return
    assert patch is not None
    assert [ast.unparse(one) for one in patch.fresh] == parsed
    kept = [node for node in ast.walk(tree) if isinstance(node, ast.stmt) and node not in patch.old]
    patch.make_room()
    patch.put(patch.fresh)
    assert dumped(tree) == dumped(whole)
    assert set(kept) <= set(ast.walk(tree))


def test_what_an_edit_takes_away_may_indent_what_is_behind() -> None:
    old, new = "for k in b:\n c\n \\\na;\nx = 1\n", "for k in b:\n c\na;\nx = 1\n"
    tree, whole = tree_of(old), tree_of(new)
    assert tree is not None
    assert whole is not None
    patch = followed(tree, source(old), source(new))
    if patch is not None:
        patch.make_room()
        patch.put(patch.fresh)
        assert dumped(tree) == dumped(whole)
