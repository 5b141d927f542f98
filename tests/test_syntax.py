"""What is said of syntax that this Python does not know."""

from __future__ import annotations

import ast
import sys

import pytest

from autodetach.finding import Problem
from autodetach.python2 import explained
from autodetach.source import Source
from autodetach.syntax import described

INSTALL = "install autodetach for Python"


@pytest.mark.parametrize(
    ("line", "version", "what"),
    [
        ("type X = int", (3, 12), "a `type` statement"),
        ("type X[T] = list[T]", (3, 12), "a `type` statement"),
        ("def f[T](x: T): pass", (3, 12), "type parameters"),
        ("    async def f[T](x: T):", (3, 12), "type parameters"),
        ("class A[T]: pass", (3, 12), "type parameters"),
        ("class A[T = int]: pass", (3, 13), "a default of a type parameter"),
        ("except* ValueError:", (3, 11), "`except*`"),
        ("x[*a, 1] = 1", (3, 11), "a star in an index"),
        ("def f(*args: *T): pass", (3, 11), "a star in an annotation"),
        ("except ValueError, TypeError:", (3, 14), "`except A, B:`"),
        ('x = t"{y}"', (3, 14), "a template string"),
        ("x = f(rt'{y}')", (3, 14), "a template string"),
    ],
)
def test_newer_syntax_is_called_by_its_version(line: str, version: tuple[int, int], what: str) -> None:
    number = f"{version[0]}.{version[1]}"
    wanted = f"syntax error: x (Python 3.10); for {what} of Python {number}, {INSTALL} {number} or later"
    assert described(SyntaxError("x"), line, (3, 10)) == wanted
    assert described(SyntaxError("x"), line, version) == f"syntax error: x (Python {number})", "there it is a mistake"


@pytest.mark.parametrize(
    "line", ["def f(:", "x = 'a' 1", "typed X = 1", "except as", "x = a[1", "print 'x'", "test'a'"]
)
def test_mistakes_are_not_called_new(line: str) -> None:
    assert described(SyntaxError("x"), line, (3, 10)) == "syntax error: x (Python 3.10)"


def test_f_strings() -> None:
    error = SyntaxError("f-string: expecting '}'")
    assert f"for what f-strings may hold of Python 3.12, {INSTALL} 3.12" in described(error, "", (3, 11))
    assert INSTALL not in described(error, "", (3, 12))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="there it is no error")
def test_two_classes_are_not_python_2() -> None:
    source = Source.from_bytes(b"try: pass\nexcept ValueError, TypeError: pass\n", "a.py")
    problem = (Problem("a.py", "syntax error", 2),)
    assert explained(problem, source) == problem


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="this Python knows all of it")
def test_the_running_python_is_named() -> None:
    with pytest.raises(SyntaxError) as caught:
        ast.parse('x = t"{y}"')
    said = described(caught.value, 'x = t"{y}"')
    assert f"(Python {sys.version_info[0]}.{sys.version_info[1]}); for a template string of Python 3.14" in said
