"""Faults that hide where no reading of the program finds them: `check` is silent, and a run names holder and line.

With `--trace`, since on a busy machine the budget leaves looks out.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .program_runs import ROOT, diagnoses
from .warm import Warm

HIDDEN = ROOT / "fixtures" / "hidden"
HOLDERS = {
    "c_containers": "loss_of",
    "compiled_step": "forward.<closure memory>.<in SimpleQueue>[0]",
    "exec_template": "history",
    "installed_package": "tallies._records",
    "metaclass_registry": "Report.files",
}


def test_every_program_is_tested() -> None:
    assert {path.name for path in HIDDEN.iterdir()} == set(HOLDERS)


def marked(program: Path) -> set[int]:
    """The lines that the program itself marks."""
    source = program.read_text().splitlines()
    return {number for number, line in enumerate(source, 1) if line.endswith(("# accused", "# stored"))}


@pytest.mark.parametrize("name", HOLDERS)
def test_a_run_finds_what_reading_does_not(name: str, python: Warm, tmp_path: Path) -> None:
    folder = tmp_path / name
    shutil.copytree(HIDDEN / name, folder)
    checked = python("-m", "autodetach", "check", "--no-cache", "train.py", cwd=folder)
    assert checked.code == 0, checked.out
    # What is installed is on the path, as the folder of an environment is.
    start = f"import sys; sys.path.append({str(folder / 'site-packages')!r}); " if name == "installed_package" else ""
    (folder / "start.py").write_text(
        f"{start}import sys; from autodetach.cli import main\n"
        "sys.argv[:] = ['autodetach', 'run', '--trace', 'train.py']\nmain()\n"
    )
    ran = python("start.py", cwd=folder)
    said = diagnoses(ran.err)
    assert [HOLDERS[name] in each.names for each in said] == [True], ran.err
    assert marked(folder / "train.py") <= said[0].lines, said[0].text
    assert ran.code == ("raises" in said[0].text)
