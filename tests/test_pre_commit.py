"""The hooks, run by the real `pre-commit` in a scratch repository, from a package that it builds itself."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ("autodetach", "pyproject.toml", "README.md", "LICENSE", ".pre-commit-hooks.yaml")
LEAK = """\
import torch


def train(loader):
    model = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0.0
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss
    return total / len(loader)
"""
FIXED = LEAK.replace("total += loss", "total += loss.detach()")


class Ran(NamedTuple):
    code: int
    lines: list[str]


class Repository:
    """A repository with hooks; `commands` run in it without what the tests are run with."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        ours = ("PYTHONPATH", "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE", "FORCE_COLOR")
        self._env = {name: value for name, value in os.environ.items() if name not in ours}
        self._env |= {"PRE_COMMIT_HOME": str(home), "PRE_COMMIT_COLOR": "never", "PRE_COMMIT_NO_CONCURRENCY": "1"}
        folder.mkdir(exist_ok=True)
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false")
        call = ["git", *identity, *arguments]
        done = subprocess.run(call, cwd=self.folder, env=self._env, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def stage(self, **files: str) -> None:
        for name, text in files.items():
            (self.folder / f"{name}.py").write_text(text)
        self.git("add", "-A")

    def run(self, *arguments: str) -> Ran:
        call = [sys.executable, "-m", "pre_commit", "run", *arguments]
        done = subprocess.run(call, cwd=self.folder, env=self._env, check=False, capture_output=True, text=True)
        # How wide the table is, and what building says, is not ours.
        lines = [re.sub(r"\.{3,}", "...", line) for line in (done.stdout + done.stderr).splitlines()]
        return Ran(done.returncode, [line for line in lines if not line.startswith("[INFO]")])


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Repository]:
    """A repository that has the hooks of this one, as it stands in the working tree, from a clone of it."""
    base = tmp_path_factory.mktemp("pre-commit")
    hooks = Repository(base / "hooks", base / "home")
    for name in PACKAGE:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, hooks.folder / name)
    hooks.git("add", "-A")
    hooks.git("commit", "-qm", "the package")
    user = Repository(base / "user", base / "home")
    (user.folder / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks.folder}\n  rev: {hooks.git('rev-parse', 'HEAD')}\n"
        "  hooks:\n  - id: autodetach\n  - id: autodetach-fix\n    stages: [manual]\n"
    )
    (user.folder / "pyproject.toml").write_text('[tool.autodetach]\nextend-exclude = ["old"]\n')
    user.git("add", "-A")
    user.git("commit", "-qm", "the configuration")
    yield user
    shutil.rmtree(base, ignore_errors=True)


@pytest.fixture(autouse=True)
def _clean(repository: Repository) -> None:
    repository.git("reset", "-q", "--hard")
    repository.git("clean", "-fdq")


def test_no_files(repository: Repository) -> None:
    (repository.folder / "notes.txt").write_text("total += loss\n")
    repository.git("add", "notes.txt")
    assert repository.run() == Ran(0, ["autodetach...(no files to check)Skipped"])
    assert repository.run("--all-files") == Ran(0, ["autodetach...(no files to check)Skipped"])


def test_staged_files(repository: Repository) -> None:
    repository.stage(a=FIXED, b="x = 1\n")
    (repository.folder / "not_staged.py").write_text(LEAK)
    assert repository.run() == Ran(0, ["autodetach...Passed"])


def test_a_failing_run(repository: Repository) -> None:
    repository.stage(a=LEAK, b=FIXED)
    ran = repository.run()
    assert ran.code == 1
    assert ran.lines[:3] == ["autodetach...Failed", "- hook id: autodetach", "- exit code: 1"]
    assert any(line.startswith("a.py:13:9: AD101 accumulated-loss: ") for line in ran.lines)
    assert ran.lines[-2:] == ["Found 1 finding in 2 files; `autodetach fix` repairs 1.", ""]
    assert (repository.folder / "a.py").read_text() == LEAK


def test_a_fixing_run(repository: Repository) -> None:
    repository.stage(a=LEAK)
    manual = ("--hook-stage", "manual", "autodetach-fix")
    ran = repository.run(*manual)
    assert ran.code == 1
    assert ran.lines[:3] == [
        "autodetach-fix...Failed",
        "- hook id: autodetach-fix",
        "- files were modified by this hook",
    ]
    assert ran.lines[-2:] == ["Found 1, fixed 1, 0 left.", ""]
    assert (repository.folder / "a.py").read_text() == FIXED
    repository.git("add", "a.py")
    assert repository.run(*manual) == Ran(0, ["autodetach-fix...Passed"])


def test_what_is_excluded_stays_out_although_it_is_named(repository: Repository) -> None:
    (repository.folder / "old").mkdir()
    (repository.folder / "old" / "a.py").write_text(LEAK)
    repository.git("add", "-A")
    assert repository.run() == Ran(0, ["autodetach...Passed"])
