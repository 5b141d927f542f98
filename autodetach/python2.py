"""Telling a person whose file does not parse that it is Python 2, where it is."""

from __future__ import annotations

import ast
import re
import warnings

from autodetach.finding import Problem
from autodetach.source import Source

_TRAITS = (
    (re.compile(r"(?:.*[;:])?\s*print\s*(?:>>|\s[\"'\w])"), "a print statement"),
    (re.compile(r"(?:.*[;:])?\s*exec\s+[\"'\w]"), "an exec statement"),
    (re.compile(r"\s*except\s+[^:]*,\s*[a-z_]\w*\s*:"), "`except X, error:`"),
    (re.compile(r"(?:.*[;:])?\s*raise\s+[\w.]+\s*,"), "`raise X, text`"),
    (re.compile(r".*<>"), "the operator `<>`"),
    (re.compile(r".*\b0\d+\b"), "an octal number such as `0777`"),
    (re.compile(r".*\b\d+[lL]\b"), "a number such as `10L`"),
    (re.compile(r".*\b[uU][rR][\"']"), "a string such as `ur''`"),
)


def explained(problems: tuple[Problem, ...], source: Source) -> tuple[Problem, ...]:
    """The same problems; or only the one that counts, if the file does not parse because it is Python 2."""
    if not problems or any("Python 2" in problem.message for problem in problems):
        return problems
    line = _first_wrong_line(source)
    if line is not None and 1 <= line <= source.line_count:
        text = source.line_text(line)
        for pattern, trait in _TRAITS:
            if pattern.match(text):
                return (problems[0]._replace(message=f"this is Python 2 ({trait}); only Python 3 is read", line=line),)
    return problems


def _first_wrong_line(source: Source) -> int | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(source.raw)
    except SyntaxError as error:
        return error.lineno
    except (ValueError, RecursionError, MemoryError):
        pass
    return None
