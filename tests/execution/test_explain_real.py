"""Tracebacks that PyTorch itself has raised, printed by Python, IPython, Jupyter, pytest and Rich: `explain` names the
finding that the fixture was written for, and its story comes to the line that raised.

The programs are the fixtures: what `check` finds in them is tested elsewhere, so here only the way from the printed
traceback to the finding is.
"""

from __future__ import annotations

import contextlib
import io
import json
import logging
import os
import shutil
import subprocess
import sys
import traceback
import warnings
from pathlib import Path

import pytest
import torch
from rich.console import Console
from rich.traceback import Traceback

from autodetach.settings.config import Configuration, Overrides
from autodetach.tracebacks.explain import Explanation, explain, read_log

ROOT = Path(__file__).parents[2]
FIXTURES = ROOT / "fixtures"


# Of the first fixtures of each rule, those that do not raise.
SILENT = {
    "anchored_to_the_last_step", "average_that_grows", "before_it_is_stored", "data_then_item", "grad_of_chain_grows",
}  # fmt: skip


def programs(rule: str) -> list[str]:
    paths = sorted((FIXTURES / rule).glob("*.before.py"))
    return [f"{rule}/{path.name}" for path in paths if path.name.partition(".")[0] not in SILENT]


RULES = {
    "attached-fake": ("AD203", "AD201", "AD202"),
    "carried-state": ("AD302",),
    "copied-history": ("AD104",),
    "data-index": ("AD401",),
    "detached-view": ("AD404",),
    "discarded-detach": ("AD302", "AD402"),
    "graph-outside-loop": ("AD301",),
    "leaf-in-place": ("AD304",),
    "lost-history": ("AD501",),
    "optimized-non-leaf": ("AD305",),
    "rebound-leaf": ("AD303",),
    "shared-graph": ("AD201",),
    "step-between-backwards": ("AD202",),
}
CHOSEN = [program for rule in RULES for program in programs(rule)[:4]]
OUTSIDE = "graph-outside-loop/weight_decay_by_hand.before.py"
CARRIED = "carried-state/cell_function.before.py"
FAKE = "attached-fake/gan_script.before.py"


def raised(path: Path) -> Exception:
    """What a program raises, run as a script; gradients are on behind it, wherever it has ended."""
    code = compile(path.read_bytes(), str(path), "exec")
    try:
        with torch.enable_grad(), contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(code, {"__name__": "__main__", "__file__": str(path)})
    except Exception as error:
        return error
    raise AssertionError(f"{path.name} does not raise")


def explained(text: str, folder: Path) -> Explanation:
    reading = read_log(text.encode())
    assert reading is not None, text
    return explain(reading, str(folder), Configuration(str(folder), Overrides(), None), unsafe=True)


def assert_named(explanation: Explanation, codes: tuple[str, ...]) -> None:
    [answer, *_] = explanation.answers
    assert answer.finding.code in codes
    failing = explanation.frames[-1]
    assert failing.note == ""
    assert any(
        failing.holds(located.path_of(step.path), step.line) for located in [answer] for step in located.finding.story
    )
    if answer.finding.fix is not None:
        assert explanation.changes


@pytest.mark.parametrize("program", CHOSEN)
def test_python(program: str) -> None:
    text = "".join(traceback.format_exception(raised(FIXTURES / program)))
    assert_named(explained(text, ROOT), RULES[program.partition("/")[0]])


def test_the_programs_raise_errors_of_several_kinds() -> None:
    texts = ("".join(traceback.format_exception(raised(FIXTURES / f"{rule}/{name}"))) for rule, name in ONE_OF_A_KIND)
    readings = [read_log(text.encode()) for text in texts]
    assert [reading and reading.failure.kind.name for reading in readings] == [
        "backward-twice",
        "changed-in-place",
        "no-dimension",
        "no-gradient",
        "leaf-in-place",
        "non-leaf-optimized",
        "view-detached",
        "deep-copied",
    ]


ONE_OF_A_KIND = (
    ("carried-state", "cell_function.before.py"),
    ("step-between-backwards", "functional_critic.before.py"),
    ("data-index", "appended.before.py"),
    ("rebound-leaf", "line_script.before.py"),
    ("leaf-in-place", "descent_by_hand.before.py"),
    ("optimized-non-leaf", "caption_offsets.before.py"),
    ("detached-view", "last_of_a_sequence.before.py"),
    ("copied-history", "last_attention.before.py"),
)


@pytest.mark.parametrize("width", [60, 88, 200])
@pytest.mark.parametrize("program", [OUTSIDE, CARRIED, FAKE])
def test_rich(program: str, width: int) -> None:
    error = raised(FIXTURES / program)
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=True)
    console.print(Traceback.from_exception(type(error), error, error.__traceback__, width=width))
    assert "╭" in file.getvalue()
    assert_named(explained(file.getvalue(), ROOT), RULES[program.partition("/")[0]])


def printed(folder: Path, *arguments: str) -> str:
    """What a Python program prints that ends in a traceback."""
    environment = {**os.environ, "IPYTHONDIR": str(folder / "ipython"), "PYTHONWARNINGS": "ignore", "COLUMNS": "80"}
    call = [sys.executable, *arguments]
    done = subprocess.run(call, cwd=folder, env=environment, capture_output=True, encoding="utf-8", check=False)
    return done.stdout + done.stderr


@pytest.mark.parametrize("style", ["long", "short", "native", "auto"])
def test_pytest(tmp_path: Path, style: str) -> None:
    shutil.copy(FIXTURES / OUTSIDE, tmp_path / "train.py")
    (tmp_path / "test_train.py").write_text("def test_training():\n    import train\n")
    text = printed(tmp_path, "-m", "pytest", "-p", "no:cacheprovider", f"--tb={style}", "--rootdir", str(tmp_path))
    assert "1 failed" in text
    explanation = explained(text, tmp_path)
    assert_named(explanation, ("AD301",))
    assert [frame.shown for frame in explanation.frames[-2:]] == ["test_train.py:2", "train.py:14"]


def test_ipython(tmp_path: Path) -> None:
    shutil.copy(FIXTURES / CARRIED, tmp_path / "train.py")
    text = printed(tmp_path, "-m", "IPython", "--colors=Linux", "train.py")
    assert "Traceback (most recent call last)" in text
    assert_named(explained(text, tmp_path), ("AD302",))


RUN = """
import sys, nbclient, nbformat
notebook = nbformat.read(sys.argv[1], as_version=4)
try:
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
except nbclient.exceptions.CellExecutionError as error:
    print(error)
"""


def test_jupyter(tmp_path: Path) -> None:
    lines = (FIXTURES / OUTSIDE).read_text().splitlines(keepends=True)
    at = next(number for number, line in enumerate(lines) if line.startswith("for "))
    cells: list[dict[str, object]] = [
        {"cell_type": "code", "id": f"c{n}", "metadata": {}, "execution_count": None, "outputs": [], "source": source}
        for n, source in enumerate((lines[:at], lines[at:]))
    ]
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    text = printed(tmp_path, "-c", RUN, str(path))
    assert "In[2]" in text.replace("\x1b[39m", "").replace("\x1b[32m", "")
    explanation = explained(text, tmp_path)
    assert_named(explanation, ("AD301",))
    assert explanation.frames[-1].shown.startswith("a.ipynb:cell 2:")


def test_logged_with_chained_exceptions() -> None:
    formatter = logging.Formatter("%(asctime)s %(name)s %(levelname)s %(message)s")
    error = raised(FIXTURES / FAKE)
    try:
        raise ValueError("training failed") from error
    except ValueError:
        record = logging.makeLogRecord({"name": "trainer", "levelname": "ERROR", "exc_info": sys.exc_info()})
    text = "".join(f"[rank0]: {line}\n" for line in formatter.format(record).splitlines())
    assert_named(explained(text, ROOT), RULES["attached-fake"])


def test_a_real_leaf_changed_in_place_and_a_real_numpy() -> None:
    """No finding explains these here; the error and the line are understood all the same."""
    weight = torch.ones(2, requires_grad=True)

    def leaf() -> None:
        nonlocal weight
        weight += 1

    def numpy() -> None:
        weight.numpy()

    def no_graph() -> None:
        torch.autograd.backward(weight.detach().sum())

    for action, kind in ((leaf, "leaf-in-place"), (numpy, "numpy-of-graph"), (no_graph, "no-graph")):
        with pytest.raises(RuntimeError) as caught:
            action()
        reading = read_log("".join(traceback.format_exception(caught.value)).encode())
        assert reading is not None
        assert reading.failure.kind.name == kind
        assert reading.failure.own_frames[-1].function == action.__name__
