"""The folders that a script names where it puts them on `sys.path`: `"../lib"`, `join(dirname(__file__), "..", "lib")`.

What is written there is read, and nothing of it is run. A folder of which only a part is known is none.
"""

from __future__ import annotations

import ast
import os
import posixpath
import re
from collections.abc import Iterator

MAX_NAMED = 8
MAX_CHARACTERS = 400
"""Of an expression that names folders."""
MAX_NAMES = 6
"""Names that stand for parts of one path: `HERE`, `ROOT`."""
_PUT = re.compile(r"\bsys\.path(?:\.append[ \t]*\(|\.insert[ \t]*\([ \t]*\d+[ \t]*,|\.extend[ \t]*\(|[ \t]*\+=)")
_OWN = "\0"
"""Stands for the folder of the script itself, which it knows by `__file__`."""
_NO_PATH = re.compile(r"[\0\ud800-\udfff]")
"""No path of a file has these: `"..\0_lib"` is one of Windows whose backslash was not escaped."""
_SAME = frozenset("abspath realpath normpath str fspath Path PurePath PosixPath resolve absolute as_posix".split())
"""What gives back the path that it is given, or is a method of, as far as its folder goes."""
_HERE = frozenset({"getcwd", "cwd"})
_CONSTANTS = {"__file__": f"{_OWN}/file", "pardir": "..", "curdir": ".", "sep": "/"}
_BRACKETS = {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}


def named_folders(raw: bytes, own: str, project: str) -> tuple[str, ...]:
    """The folders that a file in the folder `own` may mean, whether they exist or not.

    A relative path is one from the folder of the script, or else from that of the project: from there they are run.
    """
    text = raw.decode("utf-8", "replace").replace('\\"', '"')  # those of a notebook
    found: dict[str, None] = {}
    for match in _PUT.finditer(text):
        for path in _Paths(text).named(_written(text, match.end(), inside=not match[0].endswith("="))):
            bases = (own,) if path.startswith(_OWN) else (own, project)
            relative = path.removeprefix(_OWN).lstrip("/") if path.startswith(_OWN) else path
            if not (relative.startswith(("/", "~")) or ":" in relative or _OWN in relative):
                found.update((os.path.normpath(os.path.join(base, relative)), None) for base in bases)
        if len(found) > MAX_NAMED:
            break
    return tuple(found)[:MAX_NAMED]


class _Paths:
    """What expressions of a file name, as paths with slashes."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._left = MAX_NAMES

    def named(self, written: str) -> Iterator[str]:
        """The paths that are put there by an expression, which may be a list of several."""
        node = _parsed(written)
        parts = node.elts if isinstance(node, (ast.List, ast.Tuple)) else [node]
        for part in parts:
            path = self._path(part)
            if path is not None:
                yield path

    def _path(self, node: ast.expr | None) -> str | None:
        if isinstance(node, ast.Constant):
            is_path = isinstance(node.value, str) and not _NO_PATH.search(node.value)
            return str(node.value).replace("\\", "/") if is_path else None
        if isinstance(node, ast.Name):
            return _CONSTANTS.get(node.id) or self._of_name(node.id)
        if isinstance(node, ast.Attribute):
            return _up(self._path(node.value), 1) if node.attr == "parent" else _CONSTANTS.get(node.attr)
        if isinstance(node, ast.Subscript):
            return self._of_item(node.value, node.slice)
        if isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Add, ast.Div)):
            sides = _all([self._path(node.left), self._path(node.right)])
            if not sides:
                return None
            return posixpath.join(*sides) if isinstance(node.op, ast.Div) else "".join(sides)
        return self._of_call(node) if isinstance(node, ast.Call) else None

    def _of_call(self, node: ast.Call) -> str | None:
        callee = node.func
        name = callee.attr if isinstance(callee, ast.Attribute) else callee.id if isinstance(callee, ast.Name) else ""
        if name in _HERE:
            return "."
        given = [self._path(argument) for argument in node.args]
        if (isinstance(callee, ast.Attribute) and not node.args) or name == "joinpath":
            given.insert(0, self._path(callee.value) if isinstance(callee, ast.Attribute) else None)
        if name in ("join", "joinpath") or (name in _SAME and len(given) > 1):
            known = _all(given)
            return posixpath.join(*known) if known else None
        if len(given) != 1:
            return None
        return given[0] if name in _SAME else _up(given[0], 1) if name == "dirname" else None

    def _of_item(self, whole: ast.expr, index: ast.expr) -> str | None:
        """`Path(__file__).parents[1]`, `os.path.split(path)[0]`, `sys.path[0]`."""
        number = index.value if isinstance(index, ast.Constant) else None
        if isinstance(whole, ast.Attribute) and isinstance(number, int) and 0 <= number < MAX_NAMED:
            if whole.attr == "parents":
                return _up(self._path(whole.value), number + 1)
            return _OWN if whole.attr == "path" and number == 0 else None
        is_split = isinstance(whole, ast.Call) and isinstance(whole.func, ast.Attribute) and whole.func.attr == "split"
        if is_split and isinstance(whole, ast.Call) and len(whole.args) == 1 and number == 0:
            return _up(self._path(whole.args[0]), 1)
        return None

    def _of_name(self, name: str) -> str | None:
        """What the only assignment to a name says."""
        self._left -= 1
        if self._left < 0:
            return None
        places = [*re.finditer(rf"(?:^|[\"\n;])[ \t]*{re.escape(name)}[ \t]*=(?!=)", self._text)]
        return self._path(_parsed(_written(self._text, places[0].end(), inside=False))) if len(places) == 1 else None


def _all(parts: list[str | None]) -> list[str]:
    """The parts of a path if all of them are known, else none."""
    known = [part for part in parts if part is not None]
    return known if len(known) == len(parts) else []


def _up(path: str | None, levels: int) -> str | None:
    """The folder around a path, so many levels up."""
    for _ in range(levels if path is not None else 0):
        assert path is not None
        is_open = posixpath.basename(path) in ("", ".", "..", _OWN)
        path = posixpath.join(path, "..") if is_open else posixpath.dirname(path)
    return path


def _written(text: str, start: int, *, inside: bool) -> str:
    """The expression that begins there: up to the end of its line, or of the brackets that it stands `inside` of."""
    depth = 0
    quote = ""
    for at in range(start, min(len(text), start + MAX_CHARACTERS)):
        char = text[at]
        if quote:
            quote = "" if char == quote else quote
            continue
        if char in "\"'":
            quote = char
        depth += _BRACKETS.get(char, 0)
        ends = not inside and (char in "\n#;" or text.startswith("\\n", at))
        if depth < 0 or (depth == 0 and ends):
            return text[start:at]
    return text[start : start + MAX_CHARACTERS]


def _parsed(written: str) -> ast.expr | None:
    try:
        return ast.parse(f"({written}\n)", mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
