"""A text that an editor pipes through is treated as the file that it is called; standard output is the answer."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

LEAK = """\
import torch


def train(model, loader, optimizer):
    total = 0.0
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        total += loss
    print(total / len(loader))
"""
FIXED = LEAK.replace("+= loss\n", "+= loss.item()\n")
PROGRAM = LEAK.replace("import torch\n", "import torch\n\nfrom measure import value\n")
PROGRAM = PROGRAM.replace("total += loss\n", "total += value(loss)\n")
KEEPS = "def value(loss):\n    return loss * 2\n"
CUTS = "def value(loss):\n    return loss.item() * 2\n"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text('[tool.autodetach.per-file-ignores]\n"quiet/*.py" = ["AD1"]\n')
    (tmp_path / "src").mkdir()
    return tmp_path


def piped(command: str, raw: bytes, cwd: Path, *more: str) -> tuple[int, bytes, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "autodetach", command, "-", *more], cwd=cwd, input=raw, capture_output=True, check=False
    )
    return ran.returncode, ran.stdout, ran.stderr.decode()


def test_the_fixed_text_and_nothing_else_comes_out(project: Path) -> None:
    file = project / "src" / "train.py"
    file.write_text("what is on disk is not looked at")
    raw = ("# coding: latin-1\n# \u00fcber\n" + LEAK).replace("\n", "\r\n").encode("latin-1")
    code, out, err = piped("fix", raw, project, "--stdin-filename", "src/train.py")
    assert (code, out) == (0, raw.replace(b"+= loss\r\n", b"+= loss.item()\r\n"))
    assert err == "Found 1, fixed 1, 0 left.\n"
    assert piped("fix", raw, project, "--quiet", "--stdin-filename", "src/train.py") == (0, out, "")
    assert file.read_text() == "what is on disk is not looked at"
    assert piped("fix", out, project) == (0, out, "Found 0, fixed 0, 0 left.\n")


@pytest.mark.parametrize("raw", [b"import torch\r\ndef f(:\n", b"\xff\xfea\x00", b"# coding: nonsense\n", b"torch\0"])
def test_what_cannot_be_read_comes_back_as_it_was(project: Path, raw: bytes) -> None:
    name = ("--stdin-filename", "src/train.py")
    code, out, err = piped("fix", raw, project, *name)
    assert (code, out) == (2, raw)
    assert err.startswith("src/train.py:") and ": error: " in err
    assert piped("diff", raw, project, *name)[:2] == (2, b"")
    code, out, _ = piped("check", raw, project, *name, "--output-format", "json")
    assert (code, json.loads(out)) == (2, [])


def test_settings_are_those_of_the_place(project: Path) -> None:
    raw = LEAK.encode()
    assert piped("fix", raw, project, "--stdin-filename", "quiet/train.py")[:2] == (0, raw)
    assert piped("fix", raw, project / "src", "--stdin-filename", str(project / "quiet" / "train.py"))[:2] == (0, raw)
    assert piped("check", raw, project, "--stdin-filename", "loud/train.py")[0] == 1


@pytest.mark.parametrize(("helper", "findings"), [(KEEPS, 1), (CUTS, 0)])
def test_imports_are_those_of_the_place(project: Path, helper: str, findings: int) -> None:
    (project / "src" / "measure.py").write_text(helper)
    more = ("--stdin-filename", "src/new.py", "--output-format", "json")
    code, out, _ = piped("check", PROGRAM.encode(), project, *more)
    found = json.loads(out)
    assert (code, len(found)) == (findings, findings)
    assert all(one["filename"] == str(project / "src" / "new.py") for one in found)


def test_edits_for_a_plug_in_do_what_fix_does(project: Path) -> None:
    text = LEAK.replace("total += loss", "'\u00e9\U0001d11e'; total += loss")
    _, out, _ = piped("check", text.encode(), project, "--output-format", "json")
    (finding,) = json.loads(out)
    lines = text.split("\n")
    for edit in reversed(finding["fix"]["edits"]):
        start, end = edit["location"], edit["end_location"]
        assert start["row"] == end["row"]
        line = lines[start["row"] - 1]
        lines[start["row"] - 1] = line[: start["column"] - 1] + edit["content"] + line[end["column"] - 1 :]
    assert "\n".join(lines).encode() == piped("fix", text.encode(), project)[1]


def test_the_patch_applies_to_the_file(project: Path) -> None:
    (project / "src" / "train.py").write_text(LEAK)
    code, out, err = piped("diff", LEAK.encode(), project, "--stdin-filename", "src/train.py")
    assert code == 1 and out.startswith(b"--- a/src/train.py\n+++ b/src/train.py\n")
    assert "src/train.py:11:9: AD101" in err
    subprocess.run(["git", "apply", "-"], cwd=project, input=out, check=True)
    assert (project / "src" / "train.py").read_text() == FIXED
    assert piped("diff", FIXED.encode(), project, "--stdin-filename", "src/train.py")[:2] == (0, b"")
