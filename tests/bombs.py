"""A project full of traps: every module that anything may import lies in it, and goes off when it is run.

Each trap writes its name into a folder. A spy, which Python loads as `sitecustomize` from elsewhere, notes what a
process and its children do: code of the project that is executed, programs that are started, connections, and files
that are opened.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

FOREIGN = """
    torch numpy libcst typer click rich unidiff wrapt tomli pygls lsprotocol attr attrs cattrs yaml yaml_ft shellingham
    annotated_doc typing_extensions colorama helper conftest setup sitecustomize usercustomize autodetach_plugin
    pytest_autodetach pydantic markdown_it pygments mdurl exceptiongroup
""".split()

ROOT = Path(__file__).parent.parent
NEVER_SHADOWED = {"this", "antigravity"}


TRAP = """
import os as _os
with open(_os.path.join({went_off!r}, {name!r}), "w"):
    pass
"""

PROGRAM = """
import torch, json, ast, helper
from helper import *
net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), 0.1)
total = 0
for x in range(3):
    loss = net(torch.ones(2)).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
    total += loss
print(total)
open({here!r}, "w")
"""

SPY = """
import os as _os, sys as _sys
_PROJECT, _NOTES = {project!r}, {notes!r}

def _note(kind, what):
    handle = _os.open(_NOTES, _os.O_WRONLY | _os.O_APPEND | _os.O_CREAT, 0o600)
    _os.write(handle, (repr((kind, what)) + "\\n").encode())
    _os.close(handle)

def _spy(event, arguments, _inside=[]):
    if _inside or not (event in ("exec", "open", "os.system") or event.startswith(("socket.", "subprocess.", "os.exec",
                                                                                 "os.posix_spawn", "os.spawn"))):
        return
    _inside.append(event)
    try:
        if event == "exec":
            file = getattr(arguments[0], "co_filename", "")
            if file[:1] != "<" and _os.path.abspath(file).startswith(_PROJECT):
                _note("exec", file)
        elif event == "open":
            if isinstance(arguments[0], str):
                _note("open", _os.path.realpath(arguments[0]))
        else:
            _note(event, repr(arguments)[:200])
    finally:
        _inside.pop()

_sys.addaudithook(_spy)
"""


@dataclass(frozen=True, slots=True)
class Project:
    """Absolute folders: the project, what went off, and the one of the spy; and the file with its notes."""

    folder: Path
    went_off: Path
    spy: Path
    notes: Path
    traps: int

    def environment(self) -> dict[str, str]:
        """That of a process under observation."""
        path = os.pathsep.join([str(self.spy), str(ROOT)])
        return {**os.environ, "PYTHONPATH": path, "PYTHONDONTWRITEBYTECODE": "1"}

    def noted(self, kind: str) -> set[str]:
        """What the spy has noted whose kind begins so."""
        lines = self.notes.read_text().splitlines() if self.notes.exists() else []
        return {what for found, what in map(_parsed, lines) if found.startswith(kind)}

    def exploded(self) -> list[str]:
        """The names of the traps that went off."""
        return sorted(os.listdir(self.went_off))


@lru_cache
def pythons_own() -> frozenset[str]:
    """What `python -m` itself imports, from the current folder if it is there, before any code of ours is run."""
    code = "import sys; print(*{name.partition('.')[0] for name in sys.modules})"
    with tempfile.TemporaryDirectory() as place:
        Path(place, "trivial.py").write_text(code)
        command = [sys.executable, "-m", "trivial"]
        done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=True)
    return frozenset(done.stdout.split())


def _parsed(line: str) -> tuple[str, str]:
    kind, what = json.loads(json.dumps(eval(line, {"__builtins__": {}})))
    return kind, what


def lay(place: Path, programs: int = 1, *, spared: Iterable[str] = ()) -> Project:
    """Lay all traps but those `spared` in new folders below `place`."""
    folder, went_off, spy = place / "project", place / "went_off", place / "spy"
    for new in (folder, went_off, spy):
        new.mkdir()
    names = sorted({*sys.stdlib_module_names, *FOREIGN} - NEVER_SHADOWED - set(spared))
    traps = 0

    def trap(file: Path, name: str) -> None:
        nonlocal traps
        traps += 1
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(TRAP.format(went_off=str(went_off), name=name))

    for number, name in enumerate(names):
        # Modules and packages in turn.
        trap(folder / name / "__init__.py" if number % 3 == 0 else folder / f"{name}.py", name)
    (folder / "trap.pth").write_text(f"import os; open(os.path.join({str(went_off)!r}, 'pth'), 'w')\n")
    (folder / "setup.cfg").write_text("[metadata]\nname = trap\n")
    (folder / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "helper"\nbackend-path = ["."]\n'
        "[tool.autodetach]\nextend-exclude = ['[!t]*.py']\n"
    )
    for number in range(programs):
        here = str(went_off / "program")
        (folder / f"train{number}.py").write_text(PROGRAM.format(here=here))
    notes = place / "notes"
    (spy / "sitecustomize.py").write_text(SPY.format(project=str(folder) + os.sep, notes=str(notes)))
    return Project(folder, went_off, spy, notes, traps)


def outside(opened: Iterable[str], *allowed: Path) -> list[str]:
    """Which files lie in none of these folders, nor where Python and its packages are."""
    homes = set(
        map(os.path.realpath, (*map(str, allowed), sys.prefix, sys.base_prefix, *sys.path[1:], "/dev", "/proc"))
    )
    return sorted(file for file in opened if not any(file == home or file.startswith(home + os.sep) for home in homes))
