"""Starting is light: most files are clean, and commit hooks and editors call often."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
TIMES_A_BARE_PYTHON = 10
FEW, ROUNDS = 5, 60

CLEAN = "import torch\n\n\ndef train(model, loader, optimizer):\n    total = 0.0\n    for x, y in loader:\n" + (
    "        optimizer.zero_grad()\n"
    "        loss = torch.nn.functional.mse_loss(model(x), y)\n"
    "        loss.backward()\n"
    "        optimizer.step()\n"
    "        total += loss.item()\n"
    "    return total\n"
)

# Each dataclass is written and compiled when it is loaded, for as long as a twentieth of Python's own start, and
# `dataclasses` itself takes half of that start: what is loaded for every file are named tuples and plain classes.
HEAVY = {
    "asyncio",
    "autodetach.app",
    "autodetach.notebooks.cells",
    "autodetach.codemods",
    "autodetach.machine.evidence",
    "autodetach.machine.observations",
    "autodetach.notebooks.magics",
    "autodetach.notebooks.notebook",
    "autodetach.patch",
    "autodetach.places",
    "autodetach.report.json_",
    "autodetach.report.paragraph",
    "autodetach.report.sarif",
    "autodetach.report.text",
    "autodetach.settings.selection",
    "autodetach.disk.write",
    "concurrent.futures",
    "dataclasses",
    "hashlib",
    "inspect",
    "json",
    "libcst",
    "multiprocessing",
    "numpy",
    "pydantic",
    "rich",
    "tomllib",
    "torch",
    "typer",
    "unidiff",
}


@pytest.fixture
def clean_file(tmp_path: Path) -> Path:
    """300 lines of ordinary training code."""
    filler = "".join(
        f"\n\ndef layer_{number}(x):\n    y = x * {number}\n    return torch.relu(y)\n" for number in range(57)
    )
    path = tmp_path / "train.py"
    path.write_text(CLEAN + filler)
    assert 290 <= len(path.read_text().splitlines()) <= 310
    return path


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """As for an installed package: with its bytecode, which is kept out of this tree."""
    ours = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**ours, "PYTHONPATH": path, "PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}


def python(environment: dict[str, str], *arguments: str) -> str:
    done = subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True, env=environment)
    return done.stdout


def test_a_clean_file_loads_nothing_heavy(clean_file: Path, environment: dict[str, str]) -> None:
    code = (
        "import atexit, sys\n"
        "atexit.register(lambda: print(*sys.modules, sep='\\n'))\n"
        f"sys.argv = ['autodetach', 'check', {str(clean_file)!r}]\n"
        "from autodetach.cli import main\n"
        "main()\n"
    )
    loaded = set(python(environment, "-c", code).splitlines())
    assert "autodetach.checker" in loaded
    assert loaded & HEAVY == set()


def test_rules_load_no_repairs(environment: dict[str, str]) -> None:
    loaded = python(environment, "-c", "import sys, autodetach.rules; print(*sys.modules, sep='\\n')").splitlines()
    assert "autodetach.rules.accumulated_loss" in loaded
    assert [name for name in loaded if name.startswith(("autodetach.candidates.", "autodetach.codemods"))] == []


def test_a_clean_file_takes_little_longer_than_python_itself(clean_file: Path, environment: dict[str, str]) -> None:
    def seconds(*arguments: str) -> float:
        """Of the processor, so that what else the machine does while a process waits is not counted."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        python(environment, *arguments)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

    check = ("-m", "autodetach", "check", str(clean_file))
    python(environment, *check)
    bare, ours = [], []
    # In turn, and the best of each: a noisy minute then falls on both, and is waited for.
    for _ in range(ROUNDS):
        bare.append(seconds("-c", "pass"))
        ours.append(seconds(*check))
        if len(ours) >= FEW and min(ours) < TIMES_A_BARE_PYTHON * min(bare):
            return
    pytest.fail(f"{min(ours):.3f} s, {min(ours) / min(bare):.1f} times as long")
