"""Files in a package that are run as scripts: Python then looks in their own folder before all others.

https://docs.python.org/3/library/sys.html#sys.path
"""

from __future__ import annotations

import re
from collections.abc import Iterator

_GUARD = re.compile(rb"^if[ \t(]+__name__[ \t]*==", re.MULTILINE)
_LOOP = re.compile(rb"^(?:for|while)\b", re.MULTILINE)
_TRAINING = b".backward("
_PATH = b"sys.path"
"""A script that changes it looks elsewhere first."""
_RELATIVE = re.compile(rb"^[ \t]*from[ \t]*\.", re.MULTILINE)
_FROM = re.compile(rb"^[ \t]*from[ \t]+([\w.]+)[ \t]+import\b", re.MULTILINE)
_IMPORT = re.compile(rb"^[ \t]*import[ \t]+([\w.][\w., \t]*)", re.MULTILINE)


def is_script(raw: bytes) -> bool:
    """Whether a file does something when it is run, and can be run by itself: a relative import would fail."""
    runs = _GUARD.search(raw) is not None or (_TRAINING in raw and _LOOP.search(raw) is not None)
    return runs and _RELATIVE.search(raw) is None and _PATH not in raw


def imported(raw: bytes) -> Iterator[tuple[str, ...]]:
    """The modules that a file imports by their whole names, in parts."""
    for name in _FROM.findall(raw):
        yield _parts(name)
    for names in _IMPORT.findall(raw):
        yield from (_parts(name.split()[0]) for name in names.split(b",") if name.strip())


def _parts(name: bytes) -> tuple[str, ...]:
    return tuple(name.decode("utf-8", "replace").split("."))
