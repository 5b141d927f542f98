"""A cell that does not parse among others that do: these are a program, and what it names may be anything behind it."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.fixing import fix
from autodetach.notebooks.cells import Cells

HEAD = (
    "import torch\nmodel = torch.nn.Linear(2, 1)\nopt = torch.optim.SGD(model.parameters(), 0.1)\n"
    "penalty = sum(p.pow(2).sum() for p in model.parameters())\nseen = []"
)
SUM = (
    "total = 0\nfor i in range(4):\n    loss = model(torch.ones(1, 2)).sum()\n    opt.zero_grad()\n"
    "    loss.backward()\n    opt.step()\n    total += loss"
)
KEEP = "for i in range(1000):\n    seen.append(model(torch.ones(1, 2)).sum())"
SHOW = "print(total / 4)"
LICENSE = "MIT License\n\nCopyright (c) 2021\n"


def python_of(*texts: str) -> list[str]:
    cells = Cells.of(texts, "a.ipynb")
    return cells.text.split("\n")


@pytest.mark.parametrize(
    ("texts", "lines"),
    [
        (("x = 1", LICENSE), ["x = 1", "", "get_ipython()", "", "", "", ""]),
        (("x = y = 1", "print x\n%ls"), ["x = y = 1", "", "get_ipython(x); x = get_ipython()", "", ""]),
        # A name that is bound only later is not read yet, and what comes of an import stays what it is.
        (("x = 1", "x y b", "import b\ny = 1"), ["x = 1", "", "get_ipython(x); x = get_ipython(); y = get_ipython()"]),
        (("x = y = 1\ndef f(): pass", "f x("), ["x = y = 1", "def f(): pass", "", "get_ipython(f, x, y); f = get_ip"]),
        (("x = 1", "def f(:\n  x", "y = 1"), ["x = 1", "", "get_ipython(x); x = get_ipython()", "", "", "y = 1"]),
    ],
)
def test_what_stands_in_its_place(texts: tuple[str, ...], lines: list[str]) -> None:
    found = python_of(*texts)
    assert [line[: len(want)] for line, want in zip(found, lines, strict=False)] == lines


def fixed(*texts: str) -> tuple[str, ...]:
    source = fix(Cells.of(texts, "a.ipynb"), CheckOptions(), unsafe=True).source
    assert isinstance(source, Cells)
    return source.texts


def codes(*texts: str) -> list[str]:
    return [finding.code for finding in check(Cells.of(texts, "a.ipynb"), CheckOptions()).findings]


@pytest.mark.parametrize("broken", [LICENSE, "y = <your code>", "print 'hello'\n", "def f(:\n    pass", "(("])
def test_the_other_cells_are_one_program(broken: str) -> None:
    for texts in ((broken, HEAD, SUM, SHOW), (HEAD, broken, SUM, SHOW), (HEAD, SUM, SHOW, broken)):
        assert fixed(*texts) == tuple(text.replace("+= loss", "+= loss.item()") for text in texts)


@pytest.mark.parametrize("broken", ["print total", "f(total, <your code>)", "total.cpu() <", "def f(:\n    total"])
def test_what_it_names_it_may_read_as_a_tensor(broken: str) -> None:
    assert fixed(HEAD, SUM, broken) == (HEAD, SUM.replace("+= loss", "+= loss.detach()"), broken)


@pytest.mark.parametrize(
    "broken", ["sum(seen).backward() <", "print seen", "work(<your code>)", "def f(:\n    return seen"]
)
def test_what_it_names_it_may_differentiate(broken: str) -> None:
    work = f"def work():\n    {KEEP.replace(chr(10), chr(10) + '    ')}\n    return len(seen)\nwork()"
    assert codes(HEAD, work, "print('done'") == ["AD102"]
    assert codes(HEAD, work, broken) == []
    assert "loss.backward(retain_graph=True)" in fixed(HEAD, TWICE, "loss.backward() <")[1]
    assert "retain_graph" not in fixed(HEAD, TWICE, "other.backward() <")[1]


TWICE = "loss = model(torch.ones(1, 2)).exp().sum()\nloss.backward(retain_graph=True)\nopt.step()"


def test_nothing_is_moved_past_it() -> None:
    trained = SUM.replace(".sum()", ".sum() + penalty").replace("\n    total += loss", "")
    for broken, stays in (("print penalty", True), ("print 'penny'", False)):
        assert ("penalty" in fixed(HEAD, broken, trained)[0]) == stays


def test_what_it_names_may_be_anything_behind_it() -> None:
    again = "loss.backward()"
    first = TWICE.replace("retain_graph=True", "")
    assert codes(HEAD, first, "los = <your code>", again) == ["AD202"]
    assert codes(HEAD, first, "loss = <your code>", again) == []
    assert codes(HEAD, first, "loss = model(<your code>)", again) == []


def test_it_survives_the_way_between_processes() -> None:
    cells = Cells.of((HEAD, LICENSE), "a.ipynb", (1, 3))
    copy = pickle.loads(pickle.dumps(cells))
    assert [(cell.number, cell.line, cell.message) for cell in copy.broken] == [
        (cell.number, cell.line, cell.message) for cell in cells.broken
    ]
    assert [cell.number for cell in cells.broken] == [3]


def autodetach(folder: Path, *args: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autodetach", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, text=True)


@pytest.fixture
def course(tmp_path: Path) -> Path:
    path = tmp_path / "course.ipynb"
    texts = (HEAD, "loss = <your code>\n", SUM, 'print "total", 1', "total / 4")
    cells = [{"cell_type": "code", "metadata": {}, "source": text} for text in texts]
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}, indent=1))
    return path


def test_the_cell_is_told_and_stays_as_it_is(course: Path) -> None:
    before = course.read_bytes()
    ran = autodetach(course.parent, "check", ".")
    assert ran.returncode == 2
    assert "course.ipynb:cell 3:7:5: AD101" in ran.stdout
    first, second, summary = ran.stderr.splitlines()
    assert first.startswith("course.ipynb:cell 2:1: error: syntax error")
    assert second == "course.ipynb:cell 4:1: error: this is Python 2 (a print statement); only Python 3 is read"
    assert summary.startswith("Found 1 finding in 1 file;") and "could not" not in summary
    ran = autodetach(course.parent, "diff", ".")
    assert (ran.returncode, ran.stdout.count("@@\n"), "+    total += loss.detach()\n" in ran.stdout) == (2, 1, True)
    assert autodetach(course.parent, "fix", ".").returncode == 2
    assert course.read_bytes() == before.replace(b"+= loss", b"+= loss.detach()")


def test_formats_for_programs_tell_it_too(course: Path) -> None:
    found: list[dict[str, Any]] = json.loads(autodetach(course.parent, "check", "--output-format", "json", ".").stdout)
    assert [(one["code"], one["cell"], one["location"]["row"]) for one in found] == [("AD101", 3, 7)]
    lines = autodetach(course.parent, "check", "--output-format", "github", ".").stdout.splitlines()
    assert [line.split(" ")[0] for line in lines] == ["::error", "::error", "::warning"]
    assert "::cell 2, line 1: syntax error" in lines[0]
    (run,) = json.loads(autodetach(course.parent, "check", "--output-format", "sarif", ".").stdout)["runs"]
    (invocation,) = run["invocations"]
    notes = [note["message"]["text"] for note in invocation["toolExecutionNotifications"]]
    assert [note[:14] for note in notes] == ["cell 2, line 1", "cell 4, line 1"]
    assert (invocation["executionSuccessful"], len(run["results"])) == (False, 1)
