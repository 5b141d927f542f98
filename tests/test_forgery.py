"""Names, sources and settings of others: a terminal obeys nothing in them, and they forge no line for a service."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree
from pathlib import Path

import pytest

from autodetach.output import _for_terminal

ROOT = Path(__file__).parent.parent
PROGRAM = """# \x1b[31mred
import torch
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
total = 0
for x in range(3):
    loss = net(torch.ones(2)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss  # \x1b]0;title\x07 \u202e ::error::forged
print(total)
"""
NAMES = [
    "::error title=x::y.py",
    " ::error::x.py",
    "##[error]x.py",
    "a\n::error::b.py",
    "a\r::error::b.py",
    "c\x1b[31m.py",
    "d%0A::error::e.py",
    "e,line=1::f.py",
    "f\u202egnp.py",
    "g\udcff.py",
    'h"<&>.py',
]
EVIL = "k\x1b[31m\n::error::x"
# Line feeds and tabs are what they seem.
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2028]")
FORGED = re.compile(r"^\s*(?:::|##)", re.MULTILINE)


def run(cwd: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        [sys.executable, "-m", "autodetach", *arguments],
        cwd=cwd,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONUTF8": "1"},
        capture_output=True,
        check=False,
    )
    return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("forgery")
    for name in NAMES:
        (folder / name).write_text(PROGRAM)
        (folder / f"{name.removesuffix('.py')}_bad.py").write_text(
            "import torch\nnet = torch.nn.Linear(2, 2)\nloss.backward()\nx = (\x1b[31m\n"
        )
    return folder


@pytest.mark.parametrize("form", "text concise grouped github gitlab junit sarif rdjson json json-lines".split())
def test_no_format_is_forged(project: Path, form: str) -> None:
    done = run(project, "check", "--output-format", form, ".")
    assert done.returncode == 2, "half of the files are no Python"
    for stream in (done.stdout, done.stderr):
        assert not CONTROL.search(stream)
    assert not FORGED.search(done.stderr)
    if form in ("text", "concise", "grouped"):
        assert not FORGED.search(done.stdout)
    if form == "github":
        commands = done.stdout.splitlines()
        assert len(commands) == 2 * len(NAMES)
        pattern = r"::(warning|error) title=autodetach(?: \([\w -]+\))?,file=[^:,]*(?:,\w+=\d+)*::"
        assert all(re.match(pattern, command) for command in commands)
    if form == "junit":
        assert len(xml.etree.ElementTree.fromstring(done.stdout)) == 2 * len(NAMES)
    if form == "sarif":
        uris = set(re.findall(r'"uri": "([^"]*)"', done.stdout))
        assert not any(re.search(r"[^\w\-.~%/:#]", uri) for uri in uris)
    if form in ("json", "gitlab", "rdjson", "sarif"):
        json.loads(done.stdout)


@pytest.mark.parametrize("command", [("diff", "."), ("fix", "."), ("check", "--statistics", ".")], ids=" ".join)
def test_what_is_said_is_not_forged(project: Path, command: tuple[str, ...]) -> None:
    before = {path: path.read_bytes() for path in project.iterdir() if path.is_file()}
    done = run(project, *command)
    assert not CONTROL.search(done.stderr)
    assert not FORGED.search(done.stderr)
    for path, content in before.items():
        path.write_bytes(content)


def test_a_patch_names_files_as_git_does(project: Path, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "autodetach", "diff", "."],
        cwd=project,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        check=False,
    )
    applied = subprocess.run(["git", "apply", "--check", "-"], cwd=project, input=done.stdout, check=False)
    assert applied.returncode == 0
    assert done.stdout.count(b"+++ ") == len(NAMES)


@pytest.mark.parametrize(
    ("settings", "command"),
    [
        ({"select": [EVIL]}, ("check",)),
        ({EVIL: 1}, ("check",)),
        ({"baseline": EVIL}, ("check",)),
        ({"extend-exclude": [EVIL]}, ("config",)),
        ({"per-file-ignores": {EVIL: [EVIL]}}, ("check",)),
        ({}, ("check", "--diff-base", EVIL)),
        ({}, ("config", EVIL)),
        ({}, ("check", EVIL)),
        ({}, ("rule", EVIL)),
        ({}, ("check", "--write-baseline", EVIL)),
        ({}, ("explain", "log.txt")),
        ({}, ("check", "--baseline", "known.json")),
        ({}, ("check", "odd.ipynb")),
        ({}, ("run", "no\n::error ::x.py")),
        ({}, ("run", EVIL)),
        ({}, ("run", "-m", EVIL)),
        ({}, ("run", "--plot", EVIL, "a.py")),
        ({}, ("run", "--config", EVIL, "a.py")),
        ({EVIL: 1}, ("run", "--config", "pyproject.toml", "a.py")),
        ({}, ("run", "--fix", "a\n::error::b.py")),
    ],
)
def test_settings_and_arguments(tmp_path: Path, settings: dict[str, object], command: tuple[str, ...]) -> None:
    lines = "".join(f"{json.dumps(key)} = {_toml(value)}\n" for key, value in settings.items())
    (tmp_path / "pyproject.toml").write_text(f"[tool.autodetach]\n{lines}")
    for name in ("a.py", "a\n::error::b.py"):
        (tmp_path / name).write_text(PROGRAM)
    (tmp_path / "log.txt").write_text(
        f'Traceback (most recent call last):\n  File "{EVIL[:6]}::error::b.py", line 3, in \x1b]0;x\x07f\n'
        "    b.backward()\n"
        "RuntimeError: Trying to backward through the graph a second time\x1b[31m\n"
    )
    known = {"path": EVIL, "code": EVIL, "scope": EVIL, "text": EVIL}
    (tmp_path / "known.json").write_text(json.dumps({"version": 1, "findings": [known]}))
    kernel = {"kernelspec": {"language": EVIL, "name": EVIL}}
    book = {"cells": [], "metadata": kernel, "nbformat": 4, "nbformat_minor": 5}
    (tmp_path / "odd.ipynb").write_text(json.dumps(book))
    done = run(tmp_path, *command)
    for stream in (done.stdout, done.stderr):
        assert not CONTROL.search(stream)
        assert not FORGED.search(stream.replace("# ", "x "))


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {_toml(item)}" for key, item in value.items()) + "}"
    return json.dumps(value)


def test_a_patch_in_a_terminal() -> None:
    assert _for_terminal("-\tx \x1b[31m\r\n+ é\u202e\n") == "-\tx \\x1b[31m\n+ é\\u202e\n"
