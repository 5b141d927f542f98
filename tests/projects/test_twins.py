"""Files with the same bytes: analysed once where nothing but these bytes can matter, and told as if each were."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from autodetach import perform
from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.disk.files import FoundFile
from autodetach.projects import twins
from autodetach.runner import run
from autodetach.task import Outcome, Task

LEAK = """\
import torch
from helpers import scaled

w = torch.ones(3, requires_grad=True)
total = 0
for step in range(100):
    loss = scaled(w * w).sum()
    loss.backward()
    total += loss
print(float(total))
"""


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The paths that were really analysed."""
    paths: list[str] = []

    def noted(*arguments: object, path: str, **named: object) -> object:
        paths.append(path)
        return check(*arguments, path=path, **named)  # type: ignore[arg-type]

    monkeypatch.setattr(perform, "check", noted)
    return paths


def outcomes(*files: Path, options: CheckOptions | None = None, notes: bool = False) -> list[Outcome]:
    tasks = [Task(FoundFile(str(f), f.name), options or CheckOptions(), cwd=str(f.parent), notes=notes) for f in files]
    return list(run(tasks, 1))


def written(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_same_is_analysed_once_and_told_twice(tmp_path: Path, checked: list[str]) -> None:
    one, two = written(tmp_path / "one/a.py", LEAK), written(tmp_path / "two/b.py", LEAK)
    first, second = outcomes(one, two)
    assert checked == [str(one)]
    assert [finding.code for finding in second.findings] == ["AD101"]
    assert second.findings == first.findings
    assert second.file.shown == "b.py"
    assert second.source is not None
    assert second.source.path == "b.py"


def test_what_goes_wrong_is_told_of_each(tmp_path: Path, checked: list[str]) -> None:
    text = "import torch\ndef f(:\n    x.backward()\n"
    first, second = outcomes(written(tmp_path / "one/a.py", text), written(tmp_path / "two/b.py", text))
    assert len(checked) == 1
    assert [p.path for p in (*first.problems, *second.problems)] == ["a.py", "b.py"]
    assert first.problems[0].message == second.problems[0].message


def test_a_neighbour_that_is_imported_makes_another_program(tmp_path: Path, checked: list[str]) -> None:
    one, two = written(tmp_path / "one/a.py", LEAK), written(tmp_path / "two/a.py", LEAK)
    written(tmp_path / "two/helpers.py", "def scaled(x):\n    return x.detach()\n")
    first, second = outcomes(one, two)
    assert checked == [str(one), str(two)]
    assert [finding.code for finding in first.findings] == ["AD101"]
    assert [finding.code for finding in second.findings] == ["AD501"]
    checked.clear()
    outcomes(two, one)
    assert checked == [str(two), str(one)]


def test_a_notebook_is_no_twin(tmp_path: Path, checked: list[str]) -> None:
    cell: dict[str, object] = {
        "cell_type": "code",
        "metadata": {},
        "outputs": [],
        "execution_count": None,
        "source": LEAK,
    }
    text = json.dumps({"cells": [cell], "metadata": {}, "nbformat": 4, "nbformat_minor": 5})
    plain, notebook = written(tmp_path / "one/a.py", text), written(tmp_path / "two/a.ipynb", text)
    first, second = outcomes(plain, notebook)
    assert checked == [str(plain), str(notebook)]
    assert not first.findings
    assert [finding.code for finding in second.findings] == ["AD101"]


def test_other_options_ask_for_another_look(tmp_path: Path, checked: list[str]) -> None:
    one, two = written(tmp_path / "one/a.py", LEAK), written(tmp_path / "two/b.py", LEAK)
    tasks = [
        Task(FoundFile(str(path), path.name), CheckOptions(codes=frozenset({code})), cwd=str(tmp_path))
        for path, code in ((one, "AD101"), (two, "AD102"))
    ]
    assert [len(outcome.findings) for outcome in run(tasks, 1)] == [1, 0]
    assert len(checked) == 2


def test_a_cache_learns_on_what_the_twin_rests(tmp_path: Path, checked: list[str]) -> None:
    one, two = written(tmp_path / "one/a.py", LEAK), written(tmp_path / "two/b.py", LEAK)
    _, second = outcomes(one, two, notes=True)
    assert len(checked) == 1
    assert second.ground is not None
    assert second.ground.files[0][0] == str(two)
    assert str(two.parent) in {folder for folder, _ in second.ground.folders}


def test_every_run_begins_anew(tmp_path: Path, checked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    one = written(tmp_path / "one/a.py", LEAK)
    outcomes(one)
    outcomes(one)
    assert len(checked) == 2
    monkeypatch.setattr(twins, "MAX_RECORDS", 0)
    outcomes(one, written(tmp_path / "two/b.py", LEAK))
    assert len(checked) == 4
