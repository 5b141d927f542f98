"""What a second run may take from the first: only what is still so."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from autodetach import cache as cache_module
from autodetach import pool
from autodetach.cache import Cache, clean
from autodetach.checks import CheckOptions
from autodetach.commands import checking, keeping
from autodetach.commands.request import CLEAN, TROUBLE, Request
from autodetach.disk.files import FoundFile
from autodetach.disk.state import digest
from autodetach.perform import run_one
from autodetach.projects.imports import forget
from autodetach.report import OutputFormat
from autodetach.runner import MIN_FILES_FOR_CACHE, run
from autodetach.settings.config import Overrides
from autodetach.task import Outcome, Task

ROOT = Path(__file__).parent.parent

LEAK = """import torch
from torch import nn
from helper import value_of

model = nn.Linear(4, 1)
total = 0
for x in range(1000):
    loss = model(torch.randn(2, 4)).sum()
    loss.backward()
    total += value_of(loss)
print(total)
"""
KEEPS = "def value_of(loss):\n    return loss\n"
CUTS = "def value_of(loss):\n    return loss.item()\n"
OLD = 1_600_000_000


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A leak whose fault lies in an imported file, among clean files, all of them written long ago."""
    monkeypatch.delenv("AUTODETACH_CACHE_DIR", raising=False)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text("[project]\nname = 'p'\n")
    (folder / "train.py").write_text(LEAK)
    (folder / "helper.py").write_text(KEEPS)
    for number in range(MIN_FILES_FOR_CACHE):
        (folder / f"clean_{number}.py").write_text(f"import torch\nx = {number}\n")
    for path in folder.iterdir():
        age(path)
    age(folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of the files that are analysed, and not taken from the cache."""
    names: list[str] = []

    def noting(task: Task) -> Outcome:
        names.append(os.path.basename(task.file.path))
        return run_one(task)

    monkeypatch.setattr(pool, "run_one", noting)
    yield names
    forget()


def age(path: Path) -> None:
    """Give a file a time at which nobody can doubt that it was written before the run."""
    os.utime(path, (OLD, OLD))


def findings(capsys: pytest.CaptureFixture[str], **options: object) -> list[tuple[str, str, int]]:
    """Run `check` on the current folder: rule, file and line of each finding."""
    checking.check(Request(output_format=OutputFormat.JSON, jobs=1, **options))  # type: ignore[arg-type]
    found = json.loads(capsys.readouterr().out)
    return [(f["code"], os.path.basename(f["filename"]), f["location"]["row"]) for f in found]


FOUND = [("AD101", "train.py", 10)]


def test_nothing_is_looked_at_twice(project: Path, looked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert findings(capsys) == FOUND
    assert len(looked) == MIN_FILES_FOR_CACHE + 2
    looked.clear()
    assert findings(capsys) == FOUND
    assert looked == []


@pytest.mark.parametrize("form", list(OutputFormat))
def test_every_format_is_the_same_from_the_cache(
    project: Path, capsys: pytest.CaptureFixture[str], form: OutputFormat
) -> None:
    request = Request(output_format=form, jobs=1)
    without = checking.check(Request(output_format=form, jobs=1, no_cache=True)), *capsys.readouterr()
    first = checking.check(request), *capsys.readouterr()
    second = checking.check(request), *capsys.readouterr()
    assert without == first == second


def test_an_edited_file_is_looked_at(project: Path, looked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    findings(capsys)
    looked.clear()
    (project / "train.py").write_text(LEAK.replace("total += value_of(loss)", "total += 1"))
    assert findings(capsys) == []
    assert looked == ["train.py"]


def test_a_file_of_the_same_size_and_time_is_another_one(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Written in the same step of the clock: the time says nothing."""
    path = project / "train.py"
    now = time.time_ns()
    os.utime(path, ns=(now, now))
    assert findings(capsys) == FOUND
    other = LEAK.replace("total += value_of(loss)", "total  = value_of(loss)")
    assert len(other) == len(LEAK)
    path.write_text(other)
    os.utime(path, ns=(now, now))
    assert findings(capsys) == []


def test_an_edited_import_counts(project: Path, looked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    findings(capsys)
    looked.clear()
    (project / "helper.py").write_text(CUTS)
    assert findings(capsys) == []
    assert set(looked) == {"train.py", "helper.py"}


def test_an_import_that_comes_goes_and_is_shadowed(
    project: Path, looked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "helper.py").rename(project / "elsewhere.py")
    without = findings(capsys)
    assert "train.py" in looked
    assert not any(name == "train.py" and line == 10 and code == "AD101" for code, name, line in without)
    (project / "elsewhere.py").rename(project / "helper.py")
    assert findings(capsys) == FOUND
    package = project / "helper"
    package.mkdir()
    (package / "__init__.py").write_text(CUTS)
    looked.clear()
    assert findings(capsys) == []
    assert "train.py" in looked


def test_a_new_project_mark_counts(project: Path, looked: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    inner = project / "inner"
    inner.mkdir()
    (inner / "train.py").write_text(LEAK)
    (project / "train.py").unlink()
    assert findings(capsys) == [("AD101", "train.py", 10)]
    looked.clear()
    (inner / "setup.py").write_text("")
    findings(capsys)
    assert "train.py" in looked


def test_settings_count(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert findings(capsys) == FOUND
    assert findings(capsys, overrides=Overrides(ignore=("AD1",))) == []
    (project / "pyproject.toml").write_text("[tool.autodetach]\nper-file-ignores = { 'train.py' = ['AD101'] }\n")
    assert findings(capsys) == []
    (project / "pyproject.toml").write_text("[tool.autodetach]\n")
    assert findings(capsys) == FOUND


def test_a_baseline_is_applied_to_what_the_cache_knows(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert findings(capsys) == FOUND
    checking.check(Request(jobs=1, write_baseline="known.json"))
    capsys.readouterr()
    assert findings(capsys, overrides=Overrides(baseline="known.json")) == []
    assert findings(capsys) == FOUND


def test_only_changed_lines_of_what_the_cache_knows(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("init -q", "add -A", "-c user.name=a -c user.email=a@b.c commit -qm one"):
        subprocess.run(["git", *command.split()], check=True, cwd=project)
    assert findings(capsys) == FOUND
    assert findings(capsys, diff_base="HEAD") == []
    (project / "train.py").write_text(LEAK.replace("total += value_of(loss)", "total += value_of(loss)  # new"))
    assert findings(capsys, diff_base="HEAD") == FOUND
    assert findings(capsys, diff_base="HEAD") == FOUND


def test_comments_that_silence_nothing_are_told_from_the_cache(
    project: Path, looked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "train.py").write_text(LEAK.replace("value_of(loss)\n", "value_of(loss)  # noqa: AD101\n"))
    (project / "clean_0.py").write_text("import torch\nx = 1  # autodetach: ignore[AD101]\n")
    first = findings(capsys)
    assert first == [("AD901", "clean_0.py", 2)]
    looked.clear()
    assert findings(capsys) == first
    assert looked == []


def test_a_file_that_cannot_be_parsed_is_told_again(
    project: Path, looked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (project / "clean_0.py").write_text("import torch.nn\ndef f(:\n")
    request = Request(jobs=1)
    first = checking.check(request), capsys.readouterr().err
    looked.clear()
    assert (checking.check(request), capsys.readouterr().err) == first
    assert first[0] == TROUBLE
    assert looked == []


def test_what_is_broken_is_as_good_as_none(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    findings(capsys)
    (file,) = (project / cache_module.FOLDER).glob("*.findings")
    whole = file.read_bytes()
    rng = random.Random(5)
    for _ in range(60):
        broken = bytearray(whole)
        for _ in range(rng.choice((1, 1, 3))):
            broken[rng.randrange(len(broken))] ^= 1 << rng.randrange(8)
        file.write_bytes(bytes(broken))
        assert findings(capsys) == FOUND
    for broken_file in (b"", whole[:50], whole[:-1], whole * 2, b"x" * 5000, b"\xff\x00" * 40):
        file.write_bytes(broken_file)
        assert findings(capsys) == FOUND


@pytest.mark.parametrize("payload", [b"[]", b"{}", b'{"paths": [], "known": 3, "results": {}}', b"[" * 100_000, b"nul"])
def test_what_has_the_right_digest_and_the_wrong_shape_is_as_good_as_none(
    project: Path, capsys: pytest.CaptureFixture[str], payload: bytes
) -> None:
    findings(capsys)
    (file,) = (project / cache_module.FOLDER).glob("*.findings")
    file.write_bytes(cache_module.MAGIC + digest(payload).encode() + b"\n" + payload)
    assert findings(capsys) == FOUND


def test_two_runs_at_once(project: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    line = [sys.executable, "-m", "autodetach", "check", "--output-format", "json", "."]
    alone = subprocess.run([*line, "--no-cache"], capture_output=True, check=False, env=environment).stdout
    for _ in range(3):
        at_once = [subprocess.Popen(line, stdout=subprocess.PIPE, env=environment) for _ in range(3)]
        assert [process.communicate()[0] for process in at_once] == [alone] * 3


def test_a_folder_that_cannot_be_written_is_no_matter(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / cache_module.FOLDER).write_text("a file, where the folder should be")
    assert findings(capsys) == FOUND
    assert findings(capsys) == FOUND
    assert findings(capsys, cache_dir="/proc/nowhere") == FOUND


def test_where_it_lies(
    project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    findings(capsys, cache_dir=str(tmp_path / "given"))
    assert sorted(path.suffix or path.name for path in (tmp_path / "given").iterdir()) == [
        ".TAG",
        ".findings",
        ".gitignore",
    ]
    assert (tmp_path / "given" / "CACHEDIR.TAG").read_bytes().startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
    assert not (project / cache_module.FOLDER).exists()
    monkeypatch.setenv("AUTODETACH_CACHE_DIR", str(tmp_path / "environment"))
    findings(capsys)
    assert (tmp_path / "environment").is_dir()
    monkeypatch.delenv("AUTODETACH_CACHE_DIR")
    (project / "pyproject.toml").write_text('[tool.autodetach]\ncache-dir = "kept"\n')
    findings(capsys)
    assert (project / "kept").is_dir()
    assert findings(capsys, no_cache=True) == FOUND
    assert not (project / cache_module.FOLDER).exists()


def test_clean_removes_its_own_and_nothing_else(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = project / cache_module.FOLDER
    assert clean(str(folder)) is None
    findings(capsys)
    (folder / "mine.txt").write_text("")
    assert keeping.clean(Request()) == CLEAN
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]
    (folder / "mine.txt").unlink()
    findings(capsys)
    assert clean(str(folder)) == 1
    assert not folder.exists()


def test_a_gitignore_that_was_there_is_left_alone(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Also where the cache of an earlier version lies among the files of the project."""
    (project / ".gitignore").write_text("*.pt\n")
    (project / "CACHEDIR.TAG").write_bytes(cache_module.TAG)
    findings(capsys, cache_dir=".")
    assert list(project.glob("*.findings"))
    assert keeping.clean(Request(cache_dir=".")) == CLEAN
    assert (project / ".gitignore").read_text() == "*.pt\n"
    assert not (project / "CACHEDIR.TAG").exists()
    assert f"Removed 1 file from {project}." in capsys.readouterr().err


def test_among_other_files_the_cache_has_a_folder_of_its_own(
    project: Path, looked: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(path.name for path in project.iterdir())
    assert findings(capsys, cache_dir=".") == FOUND
    assert sorted(path.name for path in project.iterdir()) == sorted([*before, cache_module.FOLDER])
    looked.clear()
    assert findings(capsys, cache_dir=".") == FOUND
    assert looked == []
    assert keeping.clean(Request(cache_dir=".")) == CLEAN
    assert f"Removed {cache_module.FOLDER}." in capsys.readouterr().err
    assert sorted(path.name for path in project.iterdir()) == before


@pytest.mark.parametrize("name", [".gitignore", "CACHEDIR.TAG", ""])
def test_a_link_in_the_project_leads_nowhere_out_of_it(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    folder = project / cache_module.FOLDER
    if name:
        folder.mkdir()
        (folder / name).symlink_to(outside / "new")
    else:
        folder.symlink_to(outside)
    assert findings(capsys) == FOUND
    assert list(outside.iterdir()) == []
    assert keeping.clean(Request()) == CLEAN


def test_a_link_in_place_of_the_results_is_replaced(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    findings(capsys)
    (file,) = (project / cache_module.FOLDER).glob("*.findings")
    file.unlink()
    file.symlink_to(tmp_path / "new")
    findings(capsys)
    assert not file.is_symlink()
    assert not (tmp_path / "new").exists()


def test_a_few_files_leave_no_cache_behind(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    checking.check(Request(paths=("train.py",), jobs=1))
    assert not (project / cache_module.FOLDER).exists()


def test_a_file_that_changes_while_it_is_looked_at_is_looked_at_again(project: Path, tmp_path: Path) -> None:
    """The mark is taken before the bytes are read, so that it is that of the older ones."""
    path = project / "train.py"
    tasks = [Task(FoundFile(str(path), "train.py"), CheckOptions(), cwd=str(project))]

    def once() -> Outcome:
        return next(run(tasks, 1, Cache(str(tmp_path / "cache"), str(project))))

    assert len(once().findings) == 1
    path.write_text(LEAK.replace("total += value_of(loss)", "total += 1"))
    assert once().findings == ()
    path.write_text(LEAK)
    assert len(once().findings) == 1
