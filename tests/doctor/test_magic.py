"""Watched cells in a real kernel, and in IPython's own shell."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent

# In a process of its own: what Jupyter's packages warn of is not our subject, and here a warning is an error.
RUN = """
import json, sys, nbformat, nbclient
cells = [nbformat.v4.new_code_cell(source) for source in json.load(sys.stdin)]
notebook = nbformat.v4.new_notebook(cells=cells)
nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", allow_errors=True).execute()
print(json.dumps([cell.outputs for cell in notebook.cells]))
"""

IPYTHON = """
import json, sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
for cell in json.load(sys.stdin):
    shell.run_cell(cell, store_history=True)
"""

PREPARE = """%load_ext autodetach
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), 0.1)
original = torch.autograd._engine_run_backward
losses = []
state = torch.zeros(8, 4)"""

LEAK = """%%autodetach
kept = []
for _ in range(9):
    opt.zero_grad()
    loss = model(torch.ones(8, 4)).pow(2).mean()
    loss.backward()
    opt.step()
    kept.append(loss)
print(torch.autograd._engine_run_backward is original)
len(kept)"""

HEALTHY = """%%autodetach
for _ in range(9):
    opt.zero_grad()
    loss = model(torch.ones(8, 4)).pow(2).mean()
    loss.backward()
    opt.step()"""

RESTORED = "torch.autograd._engine_run_backward is original"

ONE_PASS = """opt.zero_grad()
loss = model(torch.ones(8, 4)).pow(2).mean()
loss.backward()
opt.step()
losses.append(loss)"""

STEP = """def step(state):
    state = torch.tanh(state + model(torch.ones(8, 4)))
    state.sum().backward()
    return state"""


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "IPYTHONDIR": str(folder / "ipython"), "PYTHONWARNINGS": "ignore", "PYTHONPATH": str(ROOT)}


def kernel(folder: Path, *cells: str) -> list[list[dict[str, Any]]]:
    """The outputs of each cell."""
    command = [sys.executable, "-c", RUN]
    ran = subprocess.run(
        command,
        input=json.dumps(cells),
        capture_output=True,
        text=True,
        check=False,
        env=environment(folder),
        cwd=folder,
    )
    assert ran.returncode == 0, ran.stderr
    outputs: list[list[dict[str, Any]]] = json.loads(ran.stdout)
    return outputs


def text_of(outputs: list[dict[str, Any]], name: str = "stderr") -> str:
    return "".join(output["text"] for output in outputs if output.get("name") == name)


def value_of(outputs: list[dict[str, Any]]) -> str:
    (value,) = [output["data"]["text/plain"] for output in outputs if output["output_type"] == "execute_result"]
    return str(value)


def test_cells_with_the_magic(tmp_path: Path) -> None:
    prepared, leak, restored, healthy, timed, again = kernel(
        tmp_path, PREPARE, LEAK, RESTORED, HEALTHY, "%%autodetach\n%%time\nx = 3\nx + 1", "%load_ext autodetach"
    )
    assert prepared == []
    assert text_of(leak, "stdout") == "False\n"
    assert value_of(leak) == "9"
    told = text_of(leak)
    assert told.startswith(
        "In [2], line 8: growing graph: `kept` (at module level) keeps the autograd graph of every pass\n"
    )
    assert "1. In [2], line 8: `kept` takes a tensor with its graph\n" in told
    assert told.splitlines()[-1].endswith("In [2], line 8")
    assert value_of(restored) == "True"
    assert text_of(healthy) == "autodetach: 9 differentiations and 9 steps observed: no fault seen\n"
    assert value_of(timed) == "4"
    assert "CPU times" in text_of(timed, "stdout") or "Wall time" in text_of(timed, "stdout")
    assert not [output for output in again if output["output_type"] == "error"]


def test_what_goes_from_cell_to_cell(tmp_path: Path) -> None:
    outputs = kernel(
        tmp_path,
        PREPARE,
        "%autodetach on",
        *[ONE_PASS] * 7,
        STEP,
        *["state = step(state)"] * 2,
        "%autodetach off",
        RESTORED,
    )
    told = [text_of(each) for each in outputs]
    assert told[:7] == [""] * 7
    assert told[8].startswith("In [9], line 5: growing graph: `losses` (at module level) keeps the autograd graph")
    assert told[9:11] == ["", ""]
    (error,) = [output for output in outputs[11] if output["output_type"] == "error"]
    assert error["ename"] == "RuntimeError"
    assert "backward through the graph a second time" in error["evalue"]
    assert "freed graph: `state` carries a graph that line 3 has freed" in told[11]
    # Cells of the same text are one to Jupyter, and go by their last number.
    story = [re.sub(r"^ +\d+\. ", "", line) for line in told[11].splitlines()[1:]]
    assert story[0].startswith("In [10], line 2 in `step`: builds `state` (TanhBackward0), called from In [12], line 1")
    assert "In [10], line 3 in `step`: call 1 of this line: backward frees its graph" in "\n".join(story)
    assert any(line.startswith("In [10], line 2 in `step`: reads it again (AddBackward0)") for line in story)
    assert value_of(outputs[13]) == "True"


def test_an_error_of_the_cell_itself(tmp_path: Path) -> None:
    _, cell = kernel(tmp_path, PREPARE, "%%autodetach\nraise ValueError('mine')")
    (error,) = [output for output in cell if output["output_type"] == "error"]
    assert (error["ename"], error["evalue"]) == ("ValueError", "mine")
    assert "Cell In[2], line 2" in re.sub("\x1b\\[[0-9;]*m", "", "\n".join(error["traceback"]))
    assert text_of(cell) == ""


def test_in_ipython(tmp_path: Path) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", IPYTHON],
        input=json.dumps([PREPARE, LEAK, "%autodetach", "%autodetach on", *[ONE_PASS] * 7]),
        capture_output=True,
        text=True,
        check=False,
        env=environment(tmp_path),
        cwd=tmp_path,
    )
    assert "In [2], line 8: growing graph: `kept`" in ran.stderr, ran.stderr + ran.stdout
    assert "autodetach: all cells are watched: off" in ran.stderr
    assert "In [11], line 5: growing graph: `losses`" in ran.stderr
    assert "In [10], line 5: `losses` takes" not in ran.stderr.split("In [11], line 5: growing graph")[1]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["x = 1\n"], ["x = 1\n"]),
        ([], []),
        (["%%autodetach\n", "x = 1\n"], ["\n", "x = 1\n"]),
        (["%%autodetach \n", "%%time\n", "x = 1\n"], ["%%time\n", "x = 1\n"]),
        (["%%autodetached\n", "x = 1\n"], ["%%autodetached\n", "x = 1\n"]),
        (["%%autodetach"], ["\n"]),
    ],
)
def test_the_magic_is_taken_out(lines: list[str], expected: list[str]) -> None:
    from autodetach.doctor.magic import without_magic

    assert without_magic(lines) == expected
