"""Notebooks repaired from the command line, and run as Jupyter runs them, before and after."""

from __future__ import annotations

import difflib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

FIXTURE = Path(__file__).parent.parent / "fixtures" / "notebooks" / "prior"
BEFORE = (FIXTURE / "before.ipynb").read_bytes()
AFTER = (FIXTURE / "after.ipynb").read_bytes()

# In a process of its own: what Jupyter's packages warn of is not our subject, and here a warning is an error.
RUN = """
import sys, nbformat, nbclient
notebook = nbformat.read(sys.argv[1], as_version=4)
nbformat.validate(notebook)
try:
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
except nbclient.exceptions.CellExecutionError as error:
    sys.exit(f"{error.ename}: {error.evalue}")
for output in notebook.cells[-1].outputs:
    print(output.text, end="")
"""


def autodetach(folder: Path, *args: str, stdin: bytes | None = None) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "autodetach", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False, input=stdin)


def executed(path: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "IPYTHONDIR": str(path.parent / "ipython"), "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-c", RUN, str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=path.parent)


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    return Path(shutil.copy(FIXTURE / "before.ipynb", tmp_path / "a.ipynb"))


def test_the_notebook_has_what_makes_notebooks_hard() -> None:
    cells = json.loads(BEFORE)["cells"]
    assert any(cell.get("execution_count", 0) is None and cell["source"] for cell in cells)
    assert b'"image/png"' in BEFORE
    text = "".join(line for cell in cells for line in cell["source"])
    assert all(magic in text for magic in ("%%time", "%%bash", "%time ", "!python", "= !ls", "history?", "%autoreload"))


def test_fix_changes_the_lines_of_two_cells_and_nothing_else(notebook: Path) -> None:
    ran = autodetach(notebook.parent, "fix", ".")
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert notebook.read_bytes() == AFTER
    # Told from the outside: the lines of the file that differ, and the values in it that do.
    compared = list(difflib.ndiff(_lines(BEFORE), _lines(AFTER)))
    assert [line[2:] for line in compared if line[0] == "-"] == [
        '   "source": [',
        r'    "# café: what the prior says\n",',
        '    "guess = torch.tanh(prior(inputs))"',
        "   ]",
        '    "    history.append(loss)"',
    ]
    assert [line[2:] for line in compared if line[0] == "+"] == [
        '   "source": []',
        r'    "    # café: what the prior says\n",',
        r'    "    guess = torch.tanh(prior(inputs))\n",',
        '    "    history.append(loss.item())"',
    ]
    before, after = json.loads(BEFORE), json.loads(AFTER)
    for cell in (4, 6):
        before["cells"][cell]["source"] = after["cells"][cell]["source"]
    assert before == after
    assert autodetach(notebook.parent, "check", ".").returncode == 0


def _lines(raw: bytes) -> list[str]:
    return raw.decode().splitlines()


def test_jupyter_runs_it_without_the_error(notebook: Path) -> None:
    ran = executed(notebook)
    assert "Trying to backward through the graph a second time" in ran.stderr
    assert ran.returncode == 1
    notebook.write_bytes(AFTER)
    ran = executed(notebook)
    assert (ran.returncode, ran.stdout) == (0, "3 True\n"), ran.stderr


def test_the_story_goes_from_cell_to_cell(notebook: Path) -> None:
    ran = autodetach(notebook.parent, "check", "a.ipynb").stdout.decode()
    assert ran.startswith("a.ipynb:cell 5:2:9: AD301 graph-outside-loop: ")
    assert "1. cell 5, line 2: builds the graph of `guess`, once\n   2. cell 7, line 3: the loop begins" in ran
    assert "in a.ipynb:cell 7:\n      4 +     # café" in ran
    found: list[dict[str, Any]] = json.loads(
        autodetach(notebook.parent, "check", "--output-format", "json", "a.ipynb").stdout
    )
    assert [(f["cell"], f["location"]["row"]) for f in found] == [(5, 2), (7, 9)]
    assert [(e["cell"], e["location"]["row"]) for e in found[0]["fix"]["edits"]] == [(5, 1), (7, 4)]
    assert [(step["cell"], step["row"]) for step in found[0]["story"]] == [(5, 2), (7, 3), (7, 7), (7, 7)]


def test_a_patch_is_one_of_cells(notebook: Path) -> None:
    ran = autodetach(notebook.parent, "diff", "a.ipynb")
    assert ran.stdout.decode() == (
        "--- a.ipynb:cell 5\t\n+++ a.ipynb:cell 5\t\n@@ -1,2 +0,0 @@\n"
        "-# café: what the prior says\n-guess = torch.tanh(prior(inputs))\n"
        "--- a.ipynb:cell 7\t\n+++ a.ipynb:cell 7\t\n@@ -1,9 +1,11 @@\n"
        " %%time\n history = []\n for epoch in range(3):\n"
        "+    # café: what the prior says\n+    guess = torch.tanh(prior(inputs))\n"
        "     optimizer.zero_grad()\n     %time output = model(inputs) * guess\n"
        "     loss = nn.functional.mse_loss(output, targets)\n     loss.backward()\n     optimizer.step()\n"
        "-    history.append(loss)\n+    history.append(loss.item())\n"
    )
    assert b"`autodetach fix` does" in ran.stderr
    assert notebook.read_bytes() == BEFORE
    applied = subprocess.run(["git", "apply"], cwd=notebook.parent, input=ran.stdout, capture_output=True, check=False)
    assert applied.returncode
    assert notebook.read_bytes() == BEFORE


def test_standard_input(tmp_path: Path) -> None:
    ran = autodetach(tmp_path, "fix", "-", "--stdin-filename", "x.ipynb", stdin=BEFORE)
    assert (ran.returncode, ran.stdout) == (0, AFTER)
    assert autodetach(tmp_path, "check", "--stdin-filename", "x.ipynb", stdin=BEFORE).returncode == 1
    assert os.listdir(tmp_path) == []


def test_comments_silence_in_cells(notebook: Path) -> None:
    for comment in ("# noqa: AD102", "# autodetach: ignore[AD102] it is short"):
        notebook.write_bytes(BEFORE.replace(b"history.append(loss)", f"history.append(loss)  {comment}".encode()))
        ran = autodetach(notebook.parent, "check", "-q", "a.ipynb").stdout.decode()
        assert "AD301" in ran and "AD102" not in ran


def test_what_a_notebook_imports_is_followed_and_repaired(tmp_path: Path) -> None:
    (tmp_path / "training.py").write_text(
        "class Meter:\n    def __init__(self):\n        self.sum = 0\n\n"
        "    def update(self, value):\n        self.sum = self.sum + value\n"
    )
    cells = [
        "import torch\nfrom training import Meter\nmodel = torch.nn.Linear(2, 1)\nmeter = Meter()",
        "optimizer = torch.optim.SGD(model.parameters(), 0.1)\nfor x in torch.ones(9, 2):\n    optimizer.zero_grad()\n"
        "    loss = model(x).exp().sum()\n    loss.backward()\n    optimizer.step()\n    meter.update(loss)",
        "print(float(meter.sum))",
    ]
    data = {
        "cells": [
            {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": c} for c in cells
        ],
        "metadata": {},
        "nbformat": 4,
        "nbformat_minor": 4,
    }
    (tmp_path / "a.ipynb").write_text(json.dumps(data))
    found = json.loads(autodetach(tmp_path, "check", "--output-format", "json", "a.ipynb").stdout)
    story = {(Path(step["filename"]).name, step["cell"]) for one in found for step in one["story"]}
    assert ("a.ipynb", 2) in story
    assert ("training.py", None) in story
    assert autodetach(tmp_path, "fix", ".").returncode == 0
    changed = (tmp_path / "training.py").read_text(), (tmp_path / "a.ipynb").read_text()
    assert ".item()" in changed[0] + changed[1]
    assert autodetach(tmp_path, "check", ".").returncode == 0
