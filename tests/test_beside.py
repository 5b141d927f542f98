"""One file of a project, given by itself: what the files beside it do with it counts, and they are left alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ENGINE = """\
import torch
from torch import nn

history = []


def evaluate(net, data):
    total = 0.0
    for x in data:
        total = total + net(x).pow(2).mean()
    return total


def fit(net, data):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in data:
        loss = net(x).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.append(loss)


if __name__ == "__main__":
    torch.manual_seed(0)
    net = nn.Linear(4, 1)
    data = [torch.randn(8, 4) for _ in range(3)]
    fit(net, data)
    print([f"{loss:.4f}" for loss in history])
    print(f"{evaluate(net, data):.4f}")
"""
HEAD = """\
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Linear(4, 1)
data = [torch.randn(8, 4) for _ in range(3)]
"""
PLOTS = f"""\
from engine import fit, history
{HEAD}
fit(net, data)
print(torch.stack(history).mean().item())
"""
TRAINS = f"""\
from engine import evaluate
{HEAD}
evaluate(net, data).backward()
print(net.weight.grad.norm().item())
"""
LOOKS = f"""\
from engine import evaluate
{HEAD}
with torch.no_grad():
    print(evaluate(net, data).item())
"""
STORED = "        history.append(loss.{}())\n"
SUMMED = "        total = total + net(x).pow(2).mean().{}()\n"


@pytest.fixture
def engine(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text("")
    (tmp_path / "engine.py").write_text(ENGINE)
    return tmp_path / "engine.py"


def autodetach(folder: Path, *args: str, given: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "autodetach", *args]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, input=given)


def fixed(engine: Path) -> str:
    autodetach(engine.parent, "fix", "engine.py")
    return engine.read_text()


def repaired(stored: str, summed: str = "") -> str:
    text = ENGINE.replace(STORED.replace(".{}()", ""), STORED.format(stored))
    return text.replace(SUMMED.replace(".{}()", ""), SUMMED.format(summed)) if summed else text


def test_by_itself_it_makes_numbers(engine: Path) -> None:
    assert fixed(engine) == repaired("item", "item")


@pytest.mark.parametrize(
    ("program", "expected"),
    [
        (PLOTS, repaired("detach", "item")),
        (TRAINS, repaired("item")),
        (LOOKS, repaired("detach", "detach")),
        (PLOTS.replace("engine", "tools.engine"), repaired("item", "item")),
        (PLOTS.replace("from engine import fit, history", "# the engine"), repaired("item", "item")),
    ],
    ids=["stacked", "differentiated", "without gradients", "another engine", "no import"],
)
def test_what_a_file_beside_it_needs_stays(engine: Path, program: str, expected: str) -> None:
    (engine.parent / "program.py").write_text(program)
    assert fixed(engine) == expected
    assert (engine.parent / "program.py").read_text() == program


@pytest.mark.parametrize("program", [PLOTS, TRAINS, LOOKS])
def test_it_is_the_same_as_for_the_folder(engine: Path, program: str) -> None:
    (engine.parent / "program.py").write_text(program)
    for command in ("check", "diff"):
        alone, whole = autodetach(engine.parent, command, "engine.py"), autodetach(engine.parent, command, ".")
        assert alone.stdout == whole.stdout
        assert alone.returncode == whole.returncode == 1


@pytest.mark.parametrize("program", [PLOTS, LOOKS])
def test_both_run_afterwards(engine: Path, program: str) -> None:
    path = engine.parent / "program.py"
    path.write_text(program)
    lines = [[sys.executable, "engine.py"], [sys.executable, "program.py"]]
    before = [subprocess.run(line, cwd=engine.parent, capture_output=True, check=True).stdout for line in lines]
    fixed(engine)
    after = [subprocess.run(line, cwd=engine.parent, capture_output=True, check=True).stdout for line in lines]
    assert before == after


def test_standard_input_is_looked_at_likewise(engine: Path) -> None:
    (engine.parent / "program.py").write_text(PLOTS)
    engine.write_text("")
    ran = autodetach(engine.parent, "fix", "--stdin-filename", "engine.py", "-", given=ENGINE)
    assert ran.stdout == repaired("detach", "item")
    assert engine.read_text() == ""


PLACES = {
    "a script below the root": ("package/engine.py", "scripts/plot.py", "package.engine"),
    "a script above": ("package/engine.py", "plot.py", "package.engine"),
    "another package": ("package/engine.py", "plots/plot.py", "package.engine"),
    "src": ("src/package/engine.py", "scripts/plot.py", "package.engine"),
    "the package itself": ("package/engine.py", "package/plot.py", ".engine"),
    "what its package hands on": ("package/engine.py", "plot.py", "package"),
    "two levels below the root": ("package/engine.py", "experiments/first/plot.py", "package.engine"),
    "deep": ("package/inner/engine.py", "plot.py", "package.inner.engine"),
}


@pytest.mark.parametrize(("at", "program", "name"), PLACES.values(), ids=PLACES)
def test_it_is_found_where_projects_have_it(tmp_path: Path, at: str, program: str, name: str) -> None:
    (tmp_path / "pyproject.toml").write_text("")
    for path, text in ((at, ENGINE), (program, PLOTS.replace("from engine", f"from {name}"))):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    inside = {*tmp_path.rglob("*")} - {tmp_path / "src"}
    for folder in {*(tmp_path / at).parents} & inside:
        handed = "from .engine import fit, history\n" if name == folder.name == "package" else ""
        (folder / "__init__.py").write_text(handed)
    autodetach(tmp_path, "fix", at)
    assert (tmp_path / at).read_text() == repaired("detach", "item")


def test_nothing_is_said_of_the_files_beside(engine: Path) -> None:
    faulty = PLOTS + "total = 0\nfor x in data:\n    total = total + net(x).mean()\nprint(total.item())\n"
    (engine.parent / "program.py").write_text(faulty)
    (engine.parent / "broken.py").write_text("from engine import fit\ndef\n")
    ran = autodetach(engine.parent, "check", "--output-format", "json", "engine.py")
    assert {Path(finding["filename"]).name for finding in json.loads(ran.stdout)} == {"engine.py"}
    assert "broken.py" not in ran.stderr
    assert ran.returncode == 1


def test_one_of_two_files_that_stand_between(engine: Path) -> None:
    """What is asked for may import the file, and be imported by what is not."""
    (engine.parent / "middle.py").write_text("from engine import fit, history\n")
    (engine.parent / "program.py").write_text(PLOTS.replace("engine", "middle"))
    autodetach(engine.parent, "fix", "engine.py", "middle.py")
    assert engine.read_text() == repaired("detach", "item")


def test_a_baseline_holds_for_what_they_tell(engine: Path) -> None:
    (engine.parent / "program.py").write_text(PLOTS)
    (engine.parent / "pyproject.toml").write_text('[tool.autodetach]\nbaseline = "known.json"\n')
    assert autodetach(engine.parent, "check", "--write-baseline", "known.json", "engine.py").returncode == 0
    ran = autodetach(engine.parent, "check", "engine.py")
    assert (ran.returncode, ran.stdout) == (0, "")


def test_a_notebook_beside_it_counts(engine: Path) -> None:
    cell = '{"cell_type": "code", "metadata": {}, "execution_count": null, "outputs": [], "source": SOURCE}'
    notebook = '{"cells": [' + cell + '], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}'
    (engine.parent / "plots.ipynb").write_text(notebook.replace("SOURCE", json.dumps(PLOTS)))
    assert fixed(engine) == repaired("detach", "item")
