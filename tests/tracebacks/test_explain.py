"""`autodetach explain`: what it prints for a traceback, where it looks for the files, and how it ends.

The tracebacks here are written by hand, to say what files and logs may do; `test_explain_real.py` has real ones.
"""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from autodetach.commands import explaining
from autodetach.commands.request import CLEAN, FINDINGS, TROUBLE, Request, UsageError, exit_code_of
from autodetach.report import OutputFormat
from autodetach.settings.config import Overrides

ROOT = Path(__file__).parent.parent.parent
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}

TRAIN = """\
import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
penalty = model.weight.pow(2).sum()
for _ in range(3):
    loss = model(torch.randn(4, 2)).pow(2).mean() + penalty
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
REPAIRED = TRAIN.replace(
    "penalty = model.weight.pow(2).sum()\nfor _ in range(3):\n",
    "for _ in range(3):\n    penalty = model.weight.pow(2).sum()\n",
)
CARRIED = """\
import torch
from torch import nn

cell = nn.GRUCell(2, 3)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
h = torch.zeros(4, 3)
for _ in range(3):
    h = cell(torch.randn(4, 2), h)
    loss = h.pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LEAK = """\
import torch
from torch import nn

model = nn.Linear(2, 1)
total = 0
for _ in range(3):
    loss = model(torch.randn(4, 2)).pow(2).mean()
    loss.backward()
    total = total + loss
print(total)
"""
HEALTHY = LEAK.replace("total + loss", "total + loss.item()")
TWICE = "RuntimeError: Trying to backward through the graph a second time (or directly access saved tensors)"
MEMORY = "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 2.00 GiB"


def traceback(path: str | Path, line: int, source: str, error: str = TWICE) -> str:
    return f'Traceback (most recent call last):\n  File "{path}", line {line}, in <module>\n    {source}\n{error}\n'


class Ran(NamedTuple):
    code: int
    out: str
    err: str


class Explain:
    def __init__(self, capture: pytest.CaptureFixture[bytes]) -> None:
        self._capture = capture

    def __call__(self, text: str | bytes, request: Request | None = None, *, only_diff: bool = False) -> Ran:
        Path("error.log").write_bytes(text.encode() if isinstance(text, str) else text)
        code = exit_code_of(lambda: explaining.explain("error.log", request or Request(), only_diff=only_diff))
        out, err = self._capture.readouterr()
        return Ran(code, out.decode(), err.decode())


@pytest.fixture
def explain(capfdbinary: pytest.CaptureFixture[bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Explain:
    monkeypatch.chdir(tmp_path)
    return Explain(capfdbinary)


def test_story_and_patch(explain: Explain) -> None:
    Path("train.py").write_text(TRAIN)
    ran = explain(traceback("train.py", 10, "loss.backward()"))
    assert (ran.code, ran.err) == (FINDINGS, "")
    lines = ran.out.splitlines()
    assert lines[0].startswith("RuntimeError: Trying to backward through the graph a second time")
    assert lines[1:3] == ["   raised at train.py:10", "      loss.backward()"]
    assert "train.py:6:11: AD301 graph-outside-loop" in ran.out
    assert "   4. line 10: pass 2: needs the freed part again: PyTorch raises" in lines
    assert "--- a/train.py" in lines
    assert "+    penalty = model.weight.pow(2).sum()" in lines
    assert lines[-1] == "The same command with `--diff` prints the patch alone, for `git apply`."


def test_the_patch_alone_can_be_applied(explain: Explain) -> None:
    Path("train.py").write_text(TRAIN)
    ran = explain(traceback("train.py", 10, "loss.backward()"), only_diff=True)
    assert (ran.code, ran.err) == (FINDINGS, "")
    subprocess.run(["git", "apply"], input=ran.out.encode(), check=True)
    assert Path("train.py").read_text() == REPAIRED


def test_an_unsafe_patch_is_shown_with_its_reason_and_printed_alone_on_demand(explain: Explain) -> None:
    Path("train.py").write_text(CARRIED)
    text = traceback("train.py", 11, "loss.backward()")
    ran = explain(text)
    assert ran.code == FINDINGS
    assert "This repair is unsafe: read it before you apply it." in ran.out
    assert "why unsafe: gradient of earlier passes is cut off" in ran.out
    assert "+    h = h.detach()" in ran.out
    assert "`--diff --unsafe-fixes`" in ran.out
    alone = explain(text, only_diff=True)
    assert (alone.code, alone.out) == (FINDINGS, "")
    assert "--unsafe-fixes" in alone.err
    unsafe = explain(text, Request(overrides=Overrides(unsafe_fixes=True)), only_diff=True)
    assert unsafe.out.startswith("--- a/train.py\n")
    assert unsafe.err == ""


def test_what_has_nothing_to_do_with_it_is_only_mentioned(explain: Explain) -> None:
    Path("train.py").write_text(TRAIN + LEAK.replace("import torch\nfrom torch import nn\n", ""))
    ran = explain(traceback("train.py", 10, "loss.backward()"))
    assert ran.out.count("AD301") == 1
    assert "Also found in these files, away from that line: train.py:18 AD101 accumulated-loss" in ran.out
    assert "loss.item()" not in ran.out


@pytest.mark.parametrize(
    ("line", "source", "error"),
    [
        (
            10,
            "loss.backward()",
            "RuntimeError: a leaf Variable that requires grad is being used in an in-place operation.",
        ),
        (9, "optimizer.zero_grad()", TWICE),
        (12, "gone.backward()", TWICE),
    ],
)
def test_no_guess(explain: Explain, line: int, source: str, error: str) -> None:
    Path("train.py").write_text(TRAIN)
    ran = explain(traceback("train.py", line, source, error))
    assert (ran.code, ran.err) == (CLEAN, "")
    assert "---" not in ran.out
    assert "autodetach run" in ran.out
    assert "away from that line: train.py:6 AD301" in ran.out


def test_a_healthy_program(explain: Explain) -> None:
    Path("train.py").write_text(HEALTHY)
    ran = explain(traceback("train.py", 8, "loss.backward()"))
    assert ran.code == CLEAN
    assert "`autodetach run train.py ARGS`" in ran.out
    alone = explain(traceback("train.py", 8, "loss.backward()"), only_diff=True)
    assert (alone.code, alone.out) == (CLEAN, "")
    assert "`autodetach run train.py ARGS`" in alone.err


def test_out_of_memory_asks_what_grows(explain: Explain) -> None:
    Path("train.py").write_text(LEAK)
    ran = explain(traceback("train.py", 7, "loss = model(torch.randn(4, 2)).pow(2).mean()", MEMORY))
    assert ran.code == FINDINGS
    assert "train.py:9:" in ran.out
    assert "+    total = total + loss.item()" in ran.out
    assert "If it grew with every pass" in ran.out
    Path("train.py").write_text(HEALTHY)
    assert explain(traceback("train.py", 7, "loss = model(torch.randn(4, 2)).pow(2).mean()", MEMORY)).code == CLEAN


def test_a_file_that_is_elsewhere_here(explain: Explain) -> None:
    Path("work/gan").mkdir(parents=True)
    Path("work/gan/train.py").write_text(TRAIN)
    Path("work/train.py").write_text("print()\n")
    for path in ("/home/ann/gan/train.py", r"C:\Users\ann\GAN\train.py", "/kaggle/work/gan/train.py"):
        ran = explain(traceback(path, 10, "loss.backward()"))
        assert ran.code == FINDINGS
        assert "work/gan/train.py:10 (found by the end of its path)" in ran.out


def test_of_several_files_the_one_with_the_line(explain: Explain) -> None:
    for name, text in (("a", HEALTHY), ("b", TRAIN)):
        Path(name).mkdir()
        Path(name, "train.py").write_text(text)
    ran = explain(traceback("/home/ann/train.py", 10, "loss.backward()"))
    assert ran.code == FINDINGS
    assert "raised at b/train.py:10" in ran.out
    Path("a/train.py").write_text(TRAIN)
    ran = explain(traceback("/home/ann/train.py", 10, "loss.backward()"))
    assert ran.code == CLEAN
    assert "the file may be any of a/train.py, b/train.py" in ran.out


def test_a_file_that_is_not_there(explain: Explain) -> None:
    ran = explain(traceback("/home/ann/train.py", 10, "loss.backward()"))
    assert (ran.code, ran.err) == (CLEAN, "")
    assert "raised at /home/ann/train.py:10 (the file is not there)" in ran.out
    assert "Go to the folder of the program" in ran.out


def test_a_file_that_has_changed_since(explain: Explain) -> None:
    Path("train.py").write_text("# a new\n# head\n" + TRAIN)
    ran = explain(traceback("train.py", 10, "loss.backward()"))
    assert ran.code == FINDINGS
    assert "train.py:12 (the file has changed since: line 10 of the traceback is line 12 now)" in ran.out
    Path("train.py").write_text(TRAIN.replace("loss.backward()", "(loss * 1).backward()"))
    ran = explain(traceback("train.py", 10, "loss.backward()"))
    assert ran.code == CLEAN
    assert "the line of the traceback is not in it any more" in ran.out
    assert "Raise the error again" in ran.out


def test_a_statement_of_several_lines(explain: Explain) -> None:
    Path("train.py").write_text(TRAIN.replace("    loss.backward()", "    (\n        loss\n        .backward()\n    )"))
    for line, source in ((12, ".backward()"), (11, "loss"), (10, "(")):
        assert explain(traceback("train.py", line, source)).code == FINDINGS


def test_a_folder_with_two_names(explain: Explain) -> None:
    Path("real").mkdir()
    Path("real/step.py").write_text("def step(loss):\n    loss.backward()\n")
    program = TRAIN.replace("import torch\n", "import torch\nfrom step import step\n", 1)
    Path("real/train.py").write_text(program.replace("loss.backward()", "step(loss)"))
    Path("link").symlink_to("real")
    text = '  File "real/train.py", line 11, in <module>\n    step(loss)\n'
    text += f'  File "link/step.py", line 2, in step\n    loss.backward()\n{TWICE}\n'
    ran = explain(text)
    assert ran.code == FINDINGS
    assert "raised at link/step.py:2" in ran.out


def test_imports_are_followed(explain: Explain) -> None:
    Path("step.py").write_text("def step(loss):\n    loss.backward()\n")
    Path("train.py").write_text(
        TRAIN.replace("import torch\n", "import torch\nfrom step import step\n", 1).replace(
            "loss.backward()", "step(loss)"
        )
    )
    text = '  File "train.py", line 11, in <module>\n    step(loss)\n'
    text += f'  File "step.py", line 2, in step\n    loss.backward()\n{TWICE}\n'
    ran = explain(text)
    assert ran.code == FINDINGS
    assert "raised at step.py:2 in step" in ran.out
    assert "called from train.py:11" in ran.out
    assert "step.py:2: pass 2: needs the freed part again" in ran.out


def test_json(explain: Explain) -> None:
    Path("train.py").write_text(TRAIN)
    ran = explain(traceback("train.py", 10, "loss.backward()"), Request(output_format=OutputFormat.JSON))
    told = json.loads(ran.out)
    assert told["error"]["kind"] == "backward-twice"
    assert told["error"]["exception"] == "RuntimeError"
    [frame] = told["frames"]
    assert frame["filename"] == str(Path("train.py").absolute())
    assert (frame["line"], frame["source"], frame["place"]) == (10, "loss.backward()", "train.py:10")
    [finding] = told["findings"]
    assert (finding["code"], finding["fix"]["applicability"]) == ("AD301", "safe")
    assert told["patch"].startswith("--- a/train.py\n")
    assert told["advice"] is None
    assert json.loads(explain(TWICE, Request(output_format=OutputFormat.JSON)).out)["advice"]


def test_other_formats_are_refused(explain: Explain) -> None:
    ran = explain(TWICE, Request(output_format=OutputFormat.SARIF))
    assert ran == (TROUBLE, "", "error: an explanation can be printed as text or json, not as sarif\n")


def test_no_error_in_the_text(explain: Explain) -> None:
    ran = explain("epoch 1\nValueError: no\n")
    assert (ran.code, ran.out) == (TROUBLE, "")
    assert ran.err.startswith("error: no autograd error in error.log: looked for ")
    assert ran.err.count("\n") == 1


def test_only_the_words_of_the_error(explain: Explain) -> None:
    ran = explain(TWICE)
    assert (ran.code, ran.err) == (CLEAN, "")
    assert "names no line of your program" in ran.out


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("train.py", "is a program; give the traceback that it printed, or run `autodetach check train.py`"),
        ("a.ipynb", "is a program"),
        ("gone.log", "gone.log: no such file or folder"),
        (".", ".: is a directory"),
        ("a\0b", "null"),
    ],
)
def test_wrong_use(explain: Explain, file: str, words: str) -> None:
    with pytest.raises(UsageError, match=re.escape(words)):
        explaining.explain(file, Request())


def test_a_file_that_is_no_python(explain: Explain) -> None:
    Path("train.py").write_text("print 'x'\nloss.backward()\n")
    ran = explain(traceback("train.py", 2, "loss.backward()"))
    assert ran.code == CLEAN
    assert "train.py:1: error: " in ran.err


CELLS = [TRAIN.partition("for _")[0], "x = 1\n", "for _" + TRAIN.partition("for _")[2]]


def notebook(cells: list[str]) -> str:
    code: list[dict[str, object]] = [
        {"cell_type": "code", "metadata": {}, "execution_count": None, "outputs": [], "source": text} for text in cells
    ]
    return json.dumps({"cells": code, "metadata": {}, "nbformat": 4, "nbformat_minor": 4})


IN_CELL = f"Cell In[9], line 4\n      3     optimizer.zero_grad()\n----> 4     loss.backward()\n\n{TWICE}\n"


def test_a_cell(explain: Explain) -> None:
    Path("a.ipynb").write_text(notebook(CELLS))
    Path("b.ipynb").write_text(notebook(["print()"]))
    ran = explain(IN_CELL)
    assert ran.code == FINDINGS
    assert "raised at a.ipynb:cell 3:4" in ran.out
    assert "cell 3, line 4: pass 2: needs the freed part again" in ran.out
    assert "`autodetach fix a.ipynb` applies it." in ran.out
    assert "patches of cells are for reading" in explain(IN_CELL, only_diff=True).err


def test_a_cell_that_may_be_any(explain: Explain) -> None:
    ran = explain(IN_CELL)
    assert ran.code == CLEAN
    assert "no notebook of this folder has that line there" in ran.out
    assert "`autodetach check NOTEBOOK.ipynb`" in ran.out
    for name in ("a.ipynb", "b.ipynb"):
        Path(name).write_text(notebook(CELLS))
    assert "more than one cell of this folder has that line there" in explain(IN_CELL).out


def test_control_characters_cannot_forge_the_output(explain: Explain) -> None:
    Path("train.py").write_text(TRAIN)
    path = "train.py\x9b2J\x08\u202e"
    text = f'  File "{path}", line 10, in a\x07b\n    x\x00 = "\x1b[2J\x85"\n{TWICE}\x9b31m\x08\n'
    for request in (Request(), Request(output_format=OutputFormat.JSON)):
        ran = explain(text, request)
        assert ran.code in (CLEAN, FINDINGS)
        assert not any(ord(character) < 32 and character != "\n" for character in ran.out)
        assert not set("\x7f\x85\x9b\u202e") & set(ran.out)


def test_hostile_paths_are_only_names(explain: Explain) -> None:
    for path in ("/dev/zero", "/proc/self/mem", "a\x00b.py", "~nobody/x.py", "/" * 500, "." * 1500, "*.py", "-rf"):
        ran = explain(traceback(path, 1, "x.backward()"))
        assert ran.code == CLEAN
        assert "internal error" not in ran.err


def test_settings_and_comments(explain: Explain) -> None:
    Path("pyproject.toml").write_text('[tool.autodetach]\nignore = ["AD301"]\n')
    Path("train.py").write_text(TRAIN)
    assert explain(traceback("train.py", 10, "loss.backward()")).code == FINDINGS


def test_output_file_and_quiet(explain: Explain) -> None:
    Path("train.py").write_text(TRAIN)
    ran = explain(traceback("train.py", 10, "loss.backward()"), Request(output_file="told.txt"))
    assert (ran.code, ran.out) == (FINDINGS, "")
    assert "AD301" in Path("told.txt").read_text()
    assert explain(TWICE, Request(quiet=True), only_diff=True) == (CLEAN, "", "")


@pytest.mark.parametrize("file", ["train.py", "error.log", "./error.log"])
def test_no_source_is_overwritten(explain: Explain, file: str) -> None:
    Path("train.py").write_text(TRAIN)
    assert explain(traceback("train.py", 10, "loss.backward()"), Request(output_file=file)).code == TROUBLE
    assert Path("train.py").read_text() == TRAIN
    assert Path("error.log").read_text() == traceback("train.py", 10, "loss.backward()")


def test_standard_input(explain: Explain, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("train.py").write_text(TRAIN)
    text = traceback("train.py", 10, "loss.backward()").encode()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text)))
    assert exit_code_of(lambda: explaining.explain("-", Request())) == FINDINGS


def test_a_whole_process(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    text = traceback("train.py", 10, "loss.backward()").encode()

    def run(*arguments: str) -> subprocess.CompletedProcess[bytes]:
        call = [sys.executable, "-m", "autodetach", "explain", *arguments]
        return subprocess.run(call, cwd=tmp_path, input=text, env=ENVIRONMENT, capture_output=True, check=False)

    assert b"AD301" in run().stdout
    assert run("-", "--diff").stdout.startswith(b"--- a/train.py\n")
    assert json.loads(run("--output-format", "json").stdout)["findings"]
    assert run().returncode == FINDINGS


@pytest.mark.skipif(not hasattr(os, "openpty"), reason="needs a terminal")
def test_a_terminal_is_told_what_to_paste(tmp_path: Path) -> None:
    import pty

    main, side = pty.openpty()
    call = [sys.executable, "-m", "autodetach", "explain"]
    with subprocess.Popen(
        call, cwd=tmp_path, stdin=side, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    ) as process:
        os.write(main, f"{TWICE}\n\x04".encode())
        out, err = process.communicate(timeout=60)
        os.close(side)
        os.close(main)
    assert err.startswith(b"Paste the traceback")
    assert err.count(b"\n") == 1
    assert b"names no line of your program" in out
    assert process.returncode == CLEAN
