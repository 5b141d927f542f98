"""The command line: from arguments to what the commands are asked for, and whole processes from start to end."""

from __future__ import annotations

import functools
import os
import signal
import subprocess
import sys
from pathlib import Path

import fake_checker
import pytest
from typer.testing import CliRunner

from autodetach import __version__
from autodetach.app import app
from autodetach.cli import PLAIN_FLAGS, plain_command
from autodetach.commands import checking
from autodetach.commands.checking import COMMANDS
from autodetach.commands.request import Request
from autodetach.report import OutputFormat
from autodetach.settings.config import Overrides

ROOT = Path(__file__).parent.parent
FAKE = Path(fake_checker.__file__)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, Request]]:
    """What the commands, which do nothing here, were asked for."""
    requests: list[tuple[str, Request]] = []

    def note(name: str, request: Request) -> int:
        requests.append((name, request))
        return 7

    for name in COMMANDS:
        monkeypatch.setitem(checking.COMMANDS, name, functools.partial(note, name))
    return requests


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ("", Request()),
        ("a.py b", Request(paths=("a.py", "b"))),
        ("-", Request(paths=("-",))),
        ("--select AD1,AD201 --select x", Request(overrides=Overrides(select=("AD1", "AD201", "x")))),
        ("--select AD1, --ignore ,AD2", Request(overrides=Overrides(select=("AD1",), ignore=("AD2",)))),
        ("--select=", Request(overrides=Overrides(select=("",)))),
        ("--exclude a,b --exclude c", Request(overrides=Overrides(exclude=("a", "b", "c")))),
        ("--unsafe-fixes", Request(overrides=Overrides(unsafe_fixes=True))),
        ("--no-unsafe-fixes", Request(overrides=Overrides(unsafe_fixes=False))),
        ("--output-format json", Request(output_format=OutputFormat.JSON)),
        ("--output-format=text a.py", Request(paths=("a.py",))),
        ("--stdin-filename a.py -", Request(paths=("-",), stdin_filename="a.py")),
        ("--config x.toml -j 3 --no-cache -q", Request(config="x.toml", jobs=3, quiet=True, no_cache=True)),
        ("--isolated a.py", Request(paths=("a.py",), isolated=True)),
        ("--quiet --jobs 1 -- -odd.py", Request(paths=("-odd.py",), jobs=1, quiet=True)),
        ("--output-format json-lines", Request(output_format=OutputFormat.JSON_LINES)),
        ("--output-file a.sarif --exit-zero", Request(output_file="a.sarif", exit_zero=True)),
        ("-o a", Request(output_file="a")),
    ],
)
@pytest.mark.parametrize("name", COMMANDS)
def test_arguments(asked: list[tuple[str, Request]], name: str, arguments: str, expected: Request) -> None:
    result = CliRunner().invoke(app, [name, *arguments.split()])
    assert result.exit_code == 7, result.output
    assert asked == [(name, expected)]


@pytest.mark.parametrize(
    "arguments",
    [
        "check",
        "check a.py b",
        "diff -",
        "check - a.py",
        "fix --no-cache a.py",
        "fix a.py --unsafe-fixes b --quiet",
        "check -q . -q",
        *(f"fix {flag}" for flag in sorted(PLAIN_FLAGS)),
    ],
)
def test_plain_calls_mean_the_same_with_and_without_typer(asked: list[tuple[str, Request]], arguments: str) -> None:
    command = plain_command(arguments.split())
    assert command is not None
    assert command() == CliRunner().invoke(app, arguments.split()).exit_code == 7
    assert asked[0] == asked[1]


@pytest.mark.parametrize(
    "arguments",
    ["", "--help", "check --help", "rule", "chek", "check --select AD1", "check -qj2", "check -- a.py", "check --x"],
)
def test_all_other_calls_are_read_by_typer(arguments: str) -> None:
    assert plain_command(arguments.split()) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("chek", "No such command 'chek'"),
        ("check --selct AD1", "No such option: --selct"),
        ("check --output-format xml", "'xml' is not one of 'text', 'concise', 'grouped', 'json'"),
        ("check -j 0", "Invalid value for '--jobs' / '-j'"),
        ("check -j many", "Invalid value for '--jobs' / '-j'"),
        ("check --config", "--config"),
        ("rule AD101 AD102", "unexpected extra argument"),
    ],
)
def test_wrong_arguments(arguments: str, message: str) -> None:
    result = CliRunner().invoke(app, arguments.split())
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.parametrize("name", ["", *COMMANDS, "rule", "config"])
def test_help_can_be_used_without_the_readme(name: str) -> None:
    result = CliRunner().invoke(app, [*name.split(), "--help"])
    assert result.exit_code == 0
    assert "autodetach check" in result.output or f"autodetach {name}" in result.output or name == "rule"
    if name in COMMANDS:
        assert "Exit code" in result.output
        options = (
            "--select",
            "--ignore",
            "--exclude",
            "--unsafe-fixes",
            "--output-format",
            "--config",
            "--jobs",
            "--quiet",
        )
        assert [option for option in options if option not in result.output] == []


def environment() -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if name not in ("FORCE_COLOR", "PYTHONPATH")}
    return {**ours, "PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}


def process(*arguments: str, fake: bool = True, **options: object) -> subprocess.CompletedProcess[bytes]:
    """Run the whole program; `fake`: with the checker that finds words."""
    program = [str(FAKE)] if fake else ["-m", "autodetach"]
    given = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "check": False, "env": environment(), **options}
    return subprocess.run([sys.executable, *program, *arguments], **given)  # type: ignore[call-overload, no-any-return]


def test_the_version() -> None:
    done = process("--version", fake=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"autodetach {__version__}\n".encode(), b"")


def test_without_arguments_there_is_help() -> None:
    done = process(fake=False)
    assert done.returncode in (0, 2)
    assert b"autodetach check train.py" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("check clean.py", 0),
        ("check leak.py", 1),
        ("check leak.py gone.py", 2),
        ("check --no-such-option", 2),
        ("rule AD999", 2),
    ],
)
def test_exit_codes(tmp_path: Path, arguments: str, code: int) -> None:
    (tmp_path / "clean.py").write_text("x = 1\n")
    (tmp_path / "leak.py").write_text("LEAK\n")
    done = process(*arguments.split(), cwd=tmp_path)
    assert done.returncode == code
    assert (b"AD101" in done.stdout) is ("leak.py" in arguments)
    assert b"Traceback" not in done.stderr


def test_bytes_go_through_a_pipe_as_they_are(tmp_path: Path) -> None:
    done = process("fix", "-", input=b"# coding: latin-1\r\n# \xe9\r\nLEAK", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, b"# coding: latin-1\r\n# \xe9\r\nDONE")
    assert done.stderr == b"Found 1, fixed 1, 0 left.\n"


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    name = os.fsdecode(b"bad\xff.py")
    (tmp_path / name).write_text("LEAK\n")
    for arguments in (("check", name), ("check", "--output-format", "json", name)):
        done = process(*arguments, cwd=tmp_path)
        assert done.returncode == 1
        assert b"bad\\udcff.py" in done.stdout
    assert process("fix", name, cwd=tmp_path).returncode == 0
    assert (tmp_path / name).read_text() == "DONE\n"


def test_a_reader_that_goes_away_stops_nothing(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"{number}.py").write_text("LEAK\n" + "STUCK\n" * 1000)
    read, write = os.pipe()
    os.close(read)
    done = process("fix", ".", cwd=tmp_path, stdout=write)
    os.close(write)
    assert done.returncode == 1
    assert done.stderr == b"Found 3003, fixed 3, 3000 left.\n"
    assert [path.read_text()[:4] for path in tmp_path.glob("*.py")] == ["DONE"] * 3


@pytest.mark.skipif(os.name != "posix", reason="needs a shell that closes streams")
@pytest.mark.parametrize(
    ("arguments", "closed", "code", "out", "err"),
    [
        ("--version", ">&-", 0, "", ""),
        ("--help", ">&-", 0, "", ""),
        ("check clean.py", ">&-", 0, "", "No findings in 1 file.\n"),
        ("check --no-cache --jobs 1 clean.py", ">&-", 0, "", "No findings in 1 file.\n"),
        ("check clean.py", "2>&-", 0, "", ""),
        ("check clean.py", "<&- >&- 2>&-", 0, "", ""),
        ("check leak.py", ">&-", 1, "", "Found 1 finding in 1 file; `autodetach fix` repairs 1.\n"),
        ("check gone.py", ">&- 2>&-", 2, "", ""),
        ("check -", "<&-", 0, "", "No findings in 1 file.\n"),
        ("fix leak.py", "<&- >&- 2>&-", 0, "", ""),
        ("fix -", "<&-", 0, "", "Found 0, fixed 0, 0 left.\n"),
        ("fix -i leak.py", "<&-", 2, "", "error: --interactive asks questions, and this is no terminal"),
        ("explain", "<&-", 2, "", "error: no autograd error in standard input"),
    ],
)
def test_closed_streams(tmp_path: Path, arguments: str, closed: str, code: int, out: str, err: str) -> None:
    (tmp_path / "clean.py").write_text("x = 1\n")
    (tmp_path / "leak.py").write_text("LEAK\n")
    command = f'exec "{sys.executable}" "{FAKE}" {arguments} {closed}'
    given = {"cwd": tmp_path, "env": environment(), "check": False, "capture_output": True, "text": True}
    done = subprocess.run(["/bin/sh", "-c", command], **given)  # type: ignore[call-overload]
    assert (done.returncode, done.stdout) == (code, out), done.stderr
    assert done.stderr.startswith(err) and bool(done.stderr) is bool(err)
    assert (tmp_path / "leak.py").read_text() == ("DONE\n" if arguments == "fix leak.py" else "LEAK\n")


def hear_interrupts() -> None:
    """What a shell starts in the background ignores them, and so would all that it starts itself."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs a pipe with a name, to know when the program is at work")
def test_an_interrupt_ends_quietly(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    arguments = [sys.executable, str(FAKE), "check", "pipe.py"]
    with subprocess.Popen(
        arguments, cwd=tmp_path, env=environment(), stderr=subprocess.PIPE, preexec_fn=hear_interrupts
    ) as reading:
        with open(tmp_path / "pipe.py", "wb"):
            reading.send_signal(signal.SIGINT)
            assert reading.wait(10) == 130
        assert reading.stderr is not None
        assert reading.stderr.read() == b""


LEAK = b"""import torch
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


@pytest.mark.parametrize(
    "comment", [b"# noqa", b"# noqa: AD1", b"# autodetach: ignore", b"# autodetach: ignore[AD1] why"]
)
def test_a_comment_silences_a_finding_and_keeps_its_fix_away(tmp_path: Path, comment: bytes) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(LEAK)
    assert process("check", "a.py", fake=False, cwd=tmp_path).returncode == 1
    silenced = LEAK.replace(b"total += loss", b"total += loss  " + comment)
    file.write_bytes(silenced)
    for name in ("check", "diff", "fix"):
        done = process(name, "--unsafe-fixes", "a.py", fake=False, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (0, b"")
    assert file.read_bytes() == silenced


def test_many_files_give_the_same_output_whatever_the_number_of_processes(tmp_path: Path) -> None:
    for number in range(30):
        (tmp_path / f"{number}.py").write_bytes([b"x = 1\n", b"import torch.nn\n'\xff'\n", LEAK][number % 3])
    for arguments in ("check", "diff", "check --output-format json"):
        one, two = (process(*arguments.split(), "-j", jobs, ".", fake=False, cwd=tmp_path) for jobs in "12")
        assert one.returncode == 2
        assert b"29.py" in one.stdout
        assert one.stderr.count(b": error: ") == 10
        assert (one.stdout, one.stderr) == (two.stdout, two.stderr)


def test_options_of_some_commands(asked: list[tuple[str, Request]]) -> None:
    runner = CliRunner()
    for option, request, names in (
        ("--statistics", Request(statistics=True), {"check", "fix"}),
        ("--exit-non-zero-on-fix", Request(exit_non_zero_on_fix=True), {"fix"}),
    ):
        for name in COMMANDS:
            asked.clear()
            ran = runner.invoke(app, [name, option])
            assert asked == ([(name, request)] if name in names else [])
            assert (f"No such option: {option}" in ran.output) is (name not in names)
            assert (option in runner.invoke(app, [name, "--help"]).output) is (name in names)
