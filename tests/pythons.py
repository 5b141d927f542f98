"""The installed package on every supported Python that is found: `python -m tests.pythons [--short] [3.10 ...]`.

For each, in environments of its own: the wheel, and the package from the sdist, are installed; every command runs on
all fixtures; what is printed has to be that of the first Python, byte for byte. Then a typed user's program is checked
with mypy, which has to be at hand, as has `build`.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
SUPPORTED = ("3.10", "3.11", "3.12", "3.13")
FIXTURES = "fixtures"
SHORT = ("stored-history", "superfluous-retain-graph")
COMMANDS = (
    ("--version",),
    ("check", "--output-format", "json", FIXTURES),
    ("check", "--unsafe-fixes", "--output-format", "text", FIXTURES),
    ("diff", "--unsafe-fixes", FIXTURES),
    ("config", "--output-format", "json"),
    ("rule",),
    ("rule", "AD301"),
    ("fix", "--unsafe-fixes", "--quiet", FIXTURES),
)
USER = """
from autodetach.checker import check
from autodetach.checks import CheckOptions, CheckResult
from autodetach.finding import Finding
from autodetach.source import Source


def codes(text: str) -> list[str]:
    result: CheckResult = check(Source.from_text(text, "a.py"), CheckOptions())
    findings: tuple[Finding, ...] = result.findings
    return [finding.code for finding in findings]


print(codes("x = 1\\n"))
"""


def found() -> dict[str, str]:
    """The supported Pythons of this machine, by their version: on the path, or kept by pyenv."""
    pythons: dict[str, str] = {}
    for version in SUPPORTED:
        kept = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
        for candidate in (shutil.which(f"python{version}"), *map(str, kept)):
            if candidate is not None and version not in pythons and _version(candidate) == version:
                pythons[version] = candidate
    return pythons


def _version(python: str) -> str:
    code = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip()


def build(place: Path) -> tuple[Path, Path]:
    """The wheel and the sdist of this checkout."""
    command = [sys.executable, "-m", "build", "--outdir", str(place), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(place.glob("*.whl")), next(place.glob("*.tar.gz"))


def build_wheel(place: Path) -> Path:
    """The wheel alone, with what every environment has."""
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--wheel-dir", str(place), str(ROOT)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return next(place.glob("*.whl"))


def wrong_with_metadata(wheel: Path, sdist: Path | None) -> Iterator[str]:
    """What the two archives lack."""
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
        metadata = next(archive.read(name).decode() for name in names if name.endswith(".dist-info/METADATA"))
    for line in ("Requires-Python: >=3.10", "License-Expression: MIT", "License-File: LICENSE"):
        if line not in metadata.splitlines():
            yield f"the wheel does not say {line}"
    classified = tuple(re.findall(r"^Classifier: Programming Language :: Python :: (3\.\d+)$", metadata, re.MULTILINE))
    if classified != SUPPORTED:
        yield f"the classifiers name {classified}"
    if "autodetach/py.typed" not in names or not any(name.endswith("licenses/LICENSE") for name in names):
        yield "the wheel lacks py.typed or the license"
    if any(not name.startswith(("autodetach/", "autodetach-")) for name in names):
        yield "the wheel holds more than the package"
    if sdist is None:
        return
    with tarfile.open(sdist) as archive_of_sources:
        kept = {name.partition("/")[2] for name in archive_of_sources.getnames()}
    if not {"LICENSE", "README.md", "CHANGELOG.md", "pyproject.toml", "tests/pythons.py"} <= kept:
        yield "the sdist lacks files"


def results(python: str, package: Path, place: Path, fixtures: Sequence[str]) -> tuple[list[bytes], list[str]]:
    """What the commands print with the package installed, and what is wrong."""
    place.mkdir()
    subprocess.run([python, "-m", "venv", str(place / "venv")], check=True)
    inner = place / "venv" / "bin" / "python"
    pip = [str(inner), "-m", "pip", "install", "-q", "--disable-pip-version-check", str(package)]
    if package.suffix == ".whl":
        # What a wheel needs is there as wheels, too: nothing is built.
        pip.append("--only-binary=:all:")
    installed = subprocess.run(pip, check=False, capture_output=True, text=True)
    if installed.returncode:
        return [], [f"cannot be installed: {installed.stderr.strip()[-300:]}"]
    for name in fixtures:
        shutil.copytree(ROOT / FIXTURES / name, place / FIXTURES / name)
    printed: list[bytes] = []
    wrong: list[str] = []
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    for arguments in COMMANDS:
        done = subprocess.run(
            [str(place / "venv" / "bin" / "autodetach"), *arguments],
            cwd=place,
            env={**environment, "COLUMNS": "80"},
            capture_output=True,
            check=False,
        )
        if done.returncode not in (0, 1) or b"internal error" in done.stderr or b"Warning" in done.stderr:
            wrong.append(f"{' '.join(arguments)} ends with {done.returncode}: {done.stderr.decode()[-300:]}")
        printed.append(done.stdout.replace(os.fsencode(place), b"PLACE"))
        printed.append(done.stderr.replace(os.fsencode(place), b"PLACE"))
    hashed = hashlib.sha256()
    for file in sorted((place / FIXTURES).rglob("*")):
        if file.is_file():
            hashed.update(os.fsencode(file.relative_to(place)) + file.read_bytes())
    printed.append(hashed.hexdigest().encode())
    return printed, wrong


def typed(inner: Path, place: Path) -> list[str]:
    """What mypy, in the environment that runs this, has to say of a user's program."""
    if subprocess.run([sys.executable, "-c", "import mypy"], check=False, capture_output=True).returncode:
        return ["there is no mypy here"]
    (place / "user.py").write_text(USER)
    command = [sys.executable, "-m", "mypy", "--strict", "--python-executable", str(inner), "user.py"]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False)
    ran = subprocess.run([str(inner), "user.py"], cwd=place, capture_output=True, text=True, check=False)
    wrong = [] if done.returncode == 0 else [f"mypy: {done.stdout.strip()}"]
    return (
        wrong if ran.stdout == "[]\n" else [*wrong, f"the user's program prints {ran.stdout!r} {ran.stderr[-200:]!r}"]
    )


def main(arguments: list[str]) -> int:
    """Print a line for each Python, and what is wrong; 1 if anything is."""
    short = "--short" in arguments
    wanted = [argument for argument in arguments if argument != "--short"]
    pythons = {version: at for version, at in found().items() if not wanted or version in wanted}
    fixtures = SHORT if short else sorted(path.name for path in (ROOT / FIXTURES).iterdir() if path.is_dir())
    if short:
        pythons = {version: pythons[version] for version in list(pythons)[:: max(1, len(pythons) - 1)]}
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary)
        wheel, sdist = (build_wheel(place), None) if short else build(place)
        wrong += wrong_with_metadata(wheel, sdist)
        reference: tuple[str, list[bytes]] | None = None
        for version, python in sorted(pythons.items(), key=lambda one: (one[0] != "3.11", one[0])):
            for package in filter(None, (wheel, sdist)):
                at = place / f"{version}{package.suffix}"
                printed, faults = results(python, package, at, fixtures)
                if package is wheel and not faults and not short:
                    faults += typed(at / "venv" / "bin" / "python", at)
                if reference is None:
                    reference = version, printed
                commands = [" ".join(arguments) for arguments in COMMANDS for _ in range(2)]
                faults += [
                    f"`{command}` prints other things than with Python {reference[0]}"
                    for command, own, other in zip((*commands, "files after fix"), printed, reference[1], strict=False)
                    if own != other
                ]
                size = sum(map(len, printed))
                print(f"Python {version}, {package.suffix}: {size} bytes printed, {len(faults)} wrong", flush=True)
                for fault in faults:
                    print(f"   {fault}", flush=True)
                wrong += faults
    for line in wrong:
        print(line)
    if not pythons:
        print("no supported Python is found")
    return 1 if wrong or not pythons else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
