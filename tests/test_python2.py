"""Python 2 is called by its name."""

from __future__ import annotations

import pytest

from autodetach.finding import Problem
from autodetach.python2 import explained
from autodetach.source import Source

WRONG = (Problem("a.py", "syntax error: invalid syntax", 1),)


@pytest.mark.parametrize(
    ("code", "line", "trait"),
    [
        ('x = 1\nprint "epoch", x\n', 2, "a print statement"),
        ("if x: print x\n", 1, "a print statement"),
        ("import os; print 'a'\n", 1, "a print statement"),
        ("print >>f, 'a' 'b', 1 2\n", 1, "a print statement"),
        ("try:\n    x\nexcept IOError, e:\n    pass\n", 3, "`except X, error:`"),
        ("try:\n    x\nexcept (IOError, OSError), e:\n    pass\n", 3, "`except X, error:`"),
        ('raise ValueError, "text"\n', 1, "`raise X, text`"),
        ("exec code in scope\n", 1, "an exec statement"),
        ("if a <> b: pass\n", 1, "the operator `<>`"),
        ("x = 0777\n", 1, "an octal number such as `0777`"),
        ("x = 10L\n", 1, "a number such as `10L`"),
        ("x = ur'a'\n", 1, "a string such as `ur''`"),
    ],
)
def test_python_2(code: str, line: int, trait: str) -> None:
    source = Source.from_bytes(code.encode(), "a.py")
    assert explained(WRONG, source) == (Problem("a.py", f"this is Python 2 ({trait}); only Python 3 is read", line),)


@pytest.mark.parametrize(
    "code",
    [
        "def f(:\n",
        "x = print(1) print(2)\n",
        'print("a") "b"\n',
        "blueprint x\n",
        "printer 'x'\n",
        "except\n",
        "raise ValueError('a', 1) 3\n",
        "x = (\n",
        "print 'only words in a string that is fine'\n".replace("print", "x ="),
    ],
)
def test_other_faults_stay_what_they_are(code: str) -> None:
    assert explained(WRONG, Source.from_bytes(code.encode(), "a.py")) == WRONG


def test_a_file_that_parses_is_never_python_2() -> None:
    source = Source.from_bytes(b"'''\nprint 'a'\n'''\n", "a.py")
    problem = (Problem("a.py", "too many paths", 2),)
    assert explained(problem, source) == problem


def test_what_is_said_already_is_not_said_again() -> None:
    problem = (Problem("a.py", "Python 2 print statement", 1),)
    assert explained(problem, Source.from_bytes(b"print 'a'\n", "a.py")) == problem


def test_warnings_about_the_source_stay_out_of_the_output(recwarn: pytest.WarningsRecorder) -> None:
    explained(WRONG, Source.from_bytes(b"x = '\\d' 'a\nprint x\n", "a.py"))
    assert not recwarn
