"""Whether the compiled machine tells what the interpreted one does: both check and repair the same files.

    python -m tests.compiled                       all fixtures
    python -m tests.compiled PATH...               other programs
    python -m tests.compiled --into FOLDER         keep the package there (default: the temporary folder)

A wheel is built from the sources of now, which takes minutes and a C compiler, in an environment made for that. What
differs is printed, and the exit code is 1 then.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
PARTS = ("autodetach", "pyproject.toml", "README.md", "LICENSE")
"""What a wheel is built from."""
ENABLE = {"HATCH_BUILD_HOOK_ENABLE_MYPYC": "true"}
COMMANDS = (
    ("check", "--no-cache", "--output-format", "json"),
    ("diff", "--no-cache"),
    ("diff", "--no-cache", "--unsafe-fixes"),
)
MOST = 20
"""So many lines that differ are shown."""


def main() -> int:
    """Read the arguments, build, and compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.compiled", description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", type=Path, default=[ROOT / "fixtures"], metavar="PATH")
    parser.add_argument("--into", type=Path, default=Path(tempfile.gettempdir()) / "autodetach-compiled")
    arguments = parser.parse_args()
    compiled = unpacked(arguments.into.resolve())
    status = 0
    for command in COMMANDS:
        print("autodetach", *command, flush=True)
        line = (*command, *(str(path.resolve()) for path in arguments.paths))
        pairs = [*itertools.zip_longest(*(printed(where, line) for where in (ROOT, compiled)))]
        others = [(one, other) for one, other in pairs if one != other]
        for one, other in others[:MOST]:
            print(f"  interpreted: {one}\n  compiled:    {other}")
        print(f"  {len(others)} of {len(pairs)} lines differ")
        status |= bool(others)
    return status


def unpacked(folder: Path) -> Path:
    """The folder with the package whose machine is compiled, which is built anew."""
    with tempfile.TemporaryDirectory() as temporary:
        sources, wheels = Path(temporary, "sources"), Path(temporary, "wheels")
        sources.mkdir()
        for part in PARTS:
            copy = shutil.copytree if (ROOT / part).is_dir() else shutil.copy
            copy(ROOT / part, sources / part)
        line = ("-m", "pip", "wheel", "-q", "--no-deps", "-w", str(wheels), str(sources))
        subprocess.run((sys.executable, *line), check=True, env={**os.environ, **ENABLE})
        (wheel,) = wheels.iterdir()
        shutil.rmtree(folder, ignore_errors=True)
        with zipfile.ZipFile(wheel) as archive:
            archive.extractall(folder)
    return folder


def printed(where: Path, words: tuple[str, ...]) -> list[str]:
    """The lines that a command of the package in a folder prints, run elsewhere: Python looks first where it is run."""
    line = (sys.executable, "-m", "autodetach", *words)
    environment = {**os.environ, "PYTHONPATH": str(where), "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as elsewhere:
        done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment, cwd=elsewhere)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(line)}: {done.stderr}")
    return done.stdout.splitlines()


if __name__ == "__main__":
    sys.exit(main())
