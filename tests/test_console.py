"""What reaches a terminal."""

from __future__ import annotations

import io
import os
import subprocess
import sys

import pytest

from autodetach.console import printable, put_bytes, say, wants_colour, width_of


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain é 日本 👍", "plain é 日本 👍"),
        ("a\tb\nc\rd", r"a\tb\nc\rd"),
        ("\x1b[31mred\x07\x7f\x9b", r"\x1b[31mred\x07\x7f\x9b"),
        ("user\u202egnp.\u2066x", r"user\u202egnp.\u2066x"),
        ("\ufeffa\u2028b", r"\ufeffa\u2028b"),
        (os.fsdecode(b"bad\xff.py"), r"bad\udcff.py"),
    ],
)
def test_printable(text: str, expected: str) -> None:
    assert printable(text) == expected


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("environment", "stream", "expected"),
    [
        ({}, Terminal(), True),
        ({}, io.StringIO(), False),
        ({"TERM": "dumb"}, Terminal(), False),
        ({"NO_COLOR": "1"}, Terminal(), False),
        ({"NO_COLOR": ""}, Terminal(), True),
        ({"FORCE_COLOR": "1"}, io.StringIO(), True),
        ({"FORCE_COLOR": "0"}, io.StringIO(), False),
        ({"FORCE_COLOR": ""}, io.StringIO(), False),
        ({"NO_COLOR": "1", "FORCE_COLOR": "1"}, Terminal(), False),
    ],
)
def test_wants_colour(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], stream: io.StringIO, expected: bool
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR", "TERM"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(stream) is expected


def test_width_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    assert (width_of(Terminal()), width_of(io.StringIO())) == (70, None)
    for nonsense in ("0", "-3", "wide", ""):
        monkeypatch.setenv("COLUMNS", nonsense)
        assert width_of(Terminal()) is None  # it has no file number to ask


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
@pytest.mark.parametrize(("columns", "expected"), [(57, 57), (0, None)])
def test_width_of_a_real_terminal(monkeypatch: pytest.MonkeyPatch, columns: int, expected: int | None) -> None:
    import fcntl
    import pty
    import struct
    import termios

    monkeypatch.delenv("COLUMNS", raising=False)
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    with open(slave, "w") as terminal:
        assert width_of(terminal) == expected
    os.close(master)


def test_bytes_stay_bytes_and_lines_go_to_standard_error(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    put_bytes(b"\xff\r\n")
    say("é")
    assert capfdbinary.readouterr() == (b"\xff\r\n", "é\n".encode())


def run(code: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-c", code], check=False, stderr=subprocess.PIPE, **options)  # type: ignore[call-overload, no-any-return]


def test_a_text_that_the_stream_cannot_encode_is_escaped() -> None:
    code = "from autodetach.console import put; put('a\\u65e5\\n')"
    done = run(code, stdout=subprocess.PIPE, env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (done.returncode, done.stdout) == (0, b"a\\u65e5\n")


def test_a_program_without_standard_error_is_told_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", None)
    say("to nobody")
    assert width_of(sys.stderr) is None


def test_a_reader_that_went_away_is_no_fault() -> None:
    code = "from autodetach.console import put, say\nfor i in range(9): put('x' * 99999)\nsay('went on')"
    read, write = os.pipe()
    os.close(read)
    done = run(code, stdout=write)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"went on\n")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_full_disk_is_a_fault_and_is_told_once() -> None:
    code = "from autodetach.console import put\ntry: put('x')\nexcept OSError as e: raise SystemExit(f'{e.filename}!')"
    with open("/dev/full", "wb") as full:
        done = run(code, stdout=full)
    assert (done.returncode, done.stderr) == (1, b"standard output!\n")
