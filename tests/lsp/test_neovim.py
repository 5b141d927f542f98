"""Neovim's own client opens a file, shows the diagnostic, applies the code action, and saves what is right."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

from editors import editor

SCRIPT = Path(__file__).with_name("session.lua")
BEFORE = """\
import torch


def train(model, loader, optimizer):
    total = 0.0  # \u00fcber \U0001d11e alles
    for x, y in loader:
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(x), y)
        loss.backward()
        optimizer.step()
        print("\U0001d11e"); total += loss
    print(total / len(loader))
"""


def test_the_formatter_interface(tmp_path: Path) -> None:
    """What Vim and Neovim share: a buffer goes through a command, and its errors must not go into the buffer."""
    program = editor("nvim")
    file = tmp_path / "train.py"
    command = f"silent %!{sys.executable} -m autodetach fix - --stdin-filename % 2>/dev/null"
    broken = BEFORE.replace("loss.backward()", "loss.backward(")
    left = "# a state\n" + BEFORE.replace("mse_loss(model(x), y)", "unknown(x)").replace("torch.nn.functional.", "")
    for text, wanted in ((BEFORE, BEFORE.replace("+= loss\n", "+= loss.item()\n")), (broken, broken), (left, left)):
        file.write_bytes(text.encode())
        ran = subprocess.run(
            [program, "--clean", "--headless", "-c", command, "-c", "write", "-c", "quit", "train.py"],
            cwd=tmp_path,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=300,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr.decode()
        assert file.read_bytes().decode() == wanted


def test_a_session(tmp_path: Path) -> None:
    program = editor("nvim")
    (tmp_path / "pyproject.toml").write_text("")
    file = tmp_path / "train.py"
    file.write_bytes(BEFORE.encode())
    transcript = tmp_path / "transcript.txt"
    environment = {
        **os.environ,
        "PYTHON": sys.executable,
        "TRANSCRIPT": str(transcript),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
    }
    ran = subprocess.run(
        [program, "--clean", "--headless", "-c", f"luafile {SCRIPT}", "train.py"],
        cwd=tmp_path,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )
    told = transcript.read_text()
    assert ran.returncode == 0, told + ran.stderr.decode()
    lines = [line.partition(" ms  ")[2] for line in told.splitlines()]
    assert re.match(r"NVIM v\S+ opens train\.py", lines[0])
    assert lines[1].startswith("line 11: AD101: `total` keeps the autograd graph of every pass")
    assert lines[2].startswith("offered 1: AD101: accumulate the number: `.item()` on `loss`")
    assert "offered 3: AD101: ignore on this line" in lines
    assert lines[-2:] == ["no diagnostics", "written"]
    assert file.read_bytes().decode() == BEFORE.replace("+= loss\n", "+= loss.item()\n")
