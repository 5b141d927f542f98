"""Faults at every step of writing files: `python -m tests.faults`.

A process writes two files that go together, and a report. It is killed, or the system refuses what it asks for, once
before each call that leaves Python (the profiler of CPython tells), and with `--strace` before each call of the system
itself. `--short` leaves out all errors but that of a full disk. After each fault everything has to be whole, and a
second attempt has to succeed and to clear up.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any

from autodetach.disk.files import find_files
from autodetach.disk.write import Replacement, WriteError, replace_together, write_result
from autodetach.settings.config import Configuration, Overrides

OLD = {"a.py": b"old a\r\n" * 400, "b.py": b"old b\n" * 400, "report.json": b"[]\n"}
NEW = {"a.py": b"new a\r\n" * 300, "b.py": b"new b\n" * 500, "report.json": b"[1]\n"}
MODES = {"a.py": 0o755, "b.py": 0o600, "report.json": 0o640}
STRAY = re.compile(r"\.autodetach-[0-9a-f]{16}\.tmp")
ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EACCES, errno.EMFILE, errno.EINVAL)
KILLED = 137
REFUSED = 2
SYSTEM = ("posix", "_io", "io", "fcntl")
MARK = "begin-of-the-write"
SHOWN_LINES = 20


@dataclass
class Figures:
    """How many faults there were of each kind, and how many temporary files they left."""

    kills: int = 0
    errors: int = 0
    system_kills: int = 0
    system_errors: int = 0
    strays: int = 0


def prepare(folder: Path) -> None:
    """The files as they are before."""
    for path in folder.iterdir():
        path.unlink()
    for name, content in OLD.items():
        (folder / name).write_bytes(content)
        (folder / name).chmod(MODES[name])


def write(folder: Path) -> int:
    """What is done under faults. REFUSED if something was not done."""
    pair = [Replacement(f"{folder}/{name}", OLD[name], NEW[name]) for name in ("a.py", "b.py")]
    try:
        replace_together(pair)
        write_result(f"{folder}/report.json", NEW["report.json"])
    except WriteError:
        return REFUSED
    return 0


def faults(folder: Path, code: int, what: str, figures: Figures) -> list[str]:
    """What is wrong with the folder after a process has ended with a code."""
    wrong: list[str] = []
    found = {path.name: path.read_bytes() for path in folder.iterdir()}
    strays = [name for name in found if STRAY.fullmatch(name)]
    figures.strays += len(strays)
    if code not in (0, REFUSED, KILLED):
        wrong.append(f"{what}: ended with {code}")
    if set(found) - set(strays) != set(OLD):
        wrong.append(f"{what}: there are {sorted(found)}")
    for name in OLD:
        if found.get(name) not in (OLD[name], NEW[name]):
            wrong.append(f"{what}: {name} is neither the old nor the new one")
        elif (folder / name).stat().st_mode & 0o7777 != MODES[name]:
            wrong.append(f"{what}: {name} has another mode")
    if code == 0 and any(found.get(name) != NEW[name] for name in OLD):
        wrong.append(f"{what}: said to be done, and is not")
    if code == REFUSED and (found.get("a.py") == NEW["a.py"]) != (found.get("b.py") == NEW["b.py"]):
        wrong.append(f"{what}: only one of two files that go together is replaced")
    walked = find_files((".",), Configuration(str(folder), Overrides()), str(folder)).files
    if [file.shown for file in walked] != ["a.py", "b.py"]:
        wrong.append(f"{what}: a walk takes {[file.shown for file in walked]}")
    # Whatever is left: the next run does all of it, and clears up.
    if write(folder) or {path.name: path.read_bytes() for path in folder.iterdir()} != NEW:
        wrong.append(f"{what}: the next attempt leaves {sorted(path.name for path in folder.iterdir())}")
    return wrong


def in_child(work: Callable[[], int]) -> int:
    """The exit code of a fork that does the work; as a shell tells it."""
    child = os.fork()
    if not child:
        code = 70
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def with_fault(folder: Path, at: int, fault: Callable[[], None], *, only_system: bool) -> int:
    """Write, with the fault before the call with this number; 100 if there are not so many."""
    count = 0

    def profile(frame: FrameType, event: str, called: Any) -> None:
        nonlocal count
        if event == "c_call" and called is not sys.setprofile:
            module = getattr(called, "__module__", None) or type(getattr(called, "__self__", None)).__module__
            if not only_system or module in SYSTEM:
                count += 1
                if count == at:
                    sys.setprofile(None)
                    fault()

    sys.setprofile(profile)
    code = write(folder)
    sys.setprofile(None)
    return code if count >= at else 100 + code


def kill() -> None:
    """End like a process that is killed: nothing is tidied up."""
    os._exit(KILLED)


def refuse(number: int) -> Callable[[], None]:
    """A fault of the system."""

    def fault() -> None:
        raise OSError(number, os.strerror(number))

    return fault


def every_call(folder: Path, figures: Figures, errors: Sequence[int] = ERRORS) -> list[str]:
    """Kills before every call into C, and each error before every call of the system."""
    wrong: list[str] = []
    for fault, name, only_system in [(kill, "killed", False), *((refuse(e), errno.errorcode[e], True) for e in errors)]:
        for at in range(1, 10_000):
            prepare(folder)
            code = in_child(partial(with_fault, folder, at, fault, only_system=only_system))
            if code == 100:
                break
            figures.kills += name == "killed"
            figures.errors += name != "killed"
            wrong += faults(folder, code, f"{name} before call {at}", figures)
    return wrong


def every_system_call(folder: Path, figures: Figures, *, errors: bool = True) -> list[str]:
    """The same before every call of the system in the write, by `strace`."""
    trace = folder.with_suffix(".trace")
    program = (sys.executable, "-m", "tests.faults", "--write", str(folder))

    def run(*options: str) -> int:
        prepare(folder)
        command = ("strace", "-qq", "-o", str(trace), *options, *program)
        code = subprocess.run(command, check=False, env={**os.environ, "PYTHONHASHSEED": "0"}).returncode
        return KILLED if code == -9 else code

    if run() != 0:
        return ["strace: the write does not succeed by itself"]
    seen: dict[str, int] = {}
    points: list[tuple[str, int]] = []
    begun = False
    for line in trace.read_text(errors="replace").splitlines():
        name = line.partition("(")[0]
        seen[name] = seen.get(name, 0) + 1
        begun = begun or MARK in line
        if begun and name.isidentifier() and name != "exit_group":
            points.append((name, seen[name]))
    wrong: list[str] = []
    for name, number in points:
        code = run("-e", f"inject={name}:signal=KILL:when={number}")
        figures.system_kills += code == KILLED
        wrong += faults(folder, code, f"killed before {name} number {number}", figures)
        if errors and name not in ("brk", "mmap", "munmap", "rt_sigaction", "close"):
            for error in ("ENOSPC", "EIO"):
                code = run("-e", f"inject={name}:error={error}:when={number}")
                figures.system_errors += 1
                wrong += faults(folder, code, f"{error} at {name} number {number}", figures)
    trace.unlink()
    return wrong


def main(arguments: list[str]) -> int:
    """Print figures, and what is wrong; 1 if anything is."""
    if arguments[:1] == ["--write"]:
        folder = Path(arguments[1])
        # Everything is loaded before, such that only the write is looked at.
        with tempfile.TemporaryDirectory() as other:
            prepare(Path(other))
            write(Path(other))
        os.path.exists(f"/{MARK}")
        return write(folder)
    figures = Figures()
    # In memory, where there is such a place: thousands of times waiting for a disk would be minutes.
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(dir=memory) as place:
        folder = Path(place) / "files"
        folder.mkdir()
        wrong = every_call(folder, figures, ERRORS[:1] if "--short" in arguments else ERRORS)
        if "--strace" in arguments:
            if shutil.which("strace") is None:
                wrong.append("there is no strace here")
            else:
                wrong += every_system_call(folder, figures)
    print(
        f"killed before {figures.kills} calls into C, {figures.errors} errors of the system; by strace killed before "
        f"{figures.system_kills} system calls, {figures.system_errors} errors; {figures.strays} temporary files were "
        f"left and removed by the next run; {len(wrong)} wrong"
    )
    for line in wrong[:SHOWN_LINES]:
        print(line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
