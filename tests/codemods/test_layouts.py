"""Every rewrite on every layout that people write: only what it is for changes, and patches say the same."""

from __future__ import annotations

import ast
import shutil
import subprocess
from pathlib import Path

import pytest
from layout_rows import Row
from layouts import ROWS, TABLE

import autodetach.codemods
from autodetach.codemods import Edit
from autodetach.codemods.tree import Refused, Tree
from autodetach.decoding import SourceError
from autodetach.patch import patched_file, render_bytes
from autodetach.source import Source


def source_of(program: str | bytes) -> Source:
    raw = program if isinstance(program, bytes) else program.encode()
    return Source.from_bytes(raw, "a.py")


def edits_of(row: Row, first: int = 0) -> tuple[Source, tuple[Edit, ...]]:
    """The edits, where the lines of the syntax are `first` ahead of those of the file."""
    make, before, _ = row
    source = source_of(before)
    tree = ast.parse(source.raw)
    ast.increment_lineno(tree, first)
    return source, make(tree).edits(Tree(source, tree, first))


def outcome(row: Row, first: int = 0) -> bytes | None:
    """The program after the rewrite; None where nothing is offered."""
    try:
        source, edits = edits_of(row, first)
        made = source.with_edits(edits).raw
        ast.parse(made)
    except (Refused, SourceError, SyntaxError):
        return None
    return made


@pytest.mark.parametrize("name", list(ROWS))
def test_what_a_careful_person_makes_of_it(name: str) -> None:
    _, _, after = ROWS[name]
    assert outcome(ROWS[name]) == (None if after is None else source_of(after).raw)


def test_the_same_in_another_file_of_a_program() -> None:
    """There, lines are counted through all files."""
    assert [name for name, row in ROWS.items() if outcome(row, 1000) != outcome(row)] == []


def test_every_codemod_is_in_the_table() -> None:
    folder = Path(autodetach.codemods.__file__).parent
    others = {"__init__", "arguments", "concrete", "tree"}
    assert {path.stem for path in folder.glob("*.py")} - others == set(TABLE)


@pytest.mark.parametrize("program", ["git", "patch"])
def test_the_patch_makes_the_same(program: str, tmp_path: Path) -> None:
    """All rows in one patch, each a file of its own."""
    if shutil.which(program) is None:
        pytest.skip(f"no {program} here")
    wanted: dict[str, bytes] = {}
    files = []
    for number, row in enumerate(ROWS.values()):
        if row[2] is not None:
            source, edits = edits_of(row)
            name = f"{number}.py"
            (tmp_path / name).write_bytes(source.raw)
            wanted[name] = source_of(row[2]).raw
            files.append(patched_file(source, edits, name))
    command = {"git": ["git", "apply", "--whitespace=nowarn"], "patch": ["patch", "-p1", "--binary", "-s"]}[program]
    subprocess.run(command, cwd=tmp_path, input=render_bytes(files), check=True)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == wanted
