"""Where a file says that the project is, around the folder in which it stands: by `sys.path`, or by what it imports."""

from __future__ import annotations

import os
import re
from functools import lru_cache

MAX_FOLDERS_UP = 2
"""A script stands no deeper in its project, if nothing but its `sys.path` says where that is."""

_CHANGE = re.compile(
    rb"\bsys\.path(?:\.append[ \t]*\(|\.insert[ \t]*\([ \t]*\d+[ \t]*,|\.extend[ \t]*\(|[ \t]*\+=)"
    rb"(?![ \t\[]*\\?[\"'](?:[/~]|\w:))"
)
"""Whatever is put there but a path that only one machine has."""


def looks_around(raw: bytes) -> bool:
    """Whether a file may put a folder around it on `sys.path`."""
    return b"sys.path" in raw and _CHANGE.search(raw) is not None


@lru_cache(maxsize=4096)
def folders_around(folder: str, marks: tuple[str, ...]) -> tuple[str, ...]:
    """The folders above one that may be meant, the nearest first: none above a project that shows itself by `marks`."""
    found: list[str] = []
    at = folder
    while len(found) < MAX_FOLDERS_UP and not any(os.path.exists(os.path.join(at, mark)) for mark in marks):
        at = os.path.dirname(at)
        if at == os.path.dirname(at):
            break
        found.append(at)
    return tuple(found)


def folder_above(folder: str, parts: list[str], marks: tuple[str, ...]) -> str | None:
    """The folder from which a file in `folder` is run, if it imports something by the name of a folder in which it is.

    In `train/epochs.py`, `from train.metrics import error` means the file beside, though `train` has no `__init__.py`.
    A package that is installed under the same name is asked for files which are not there, or for itself.
    """
    if len(parts) < 2 or parts[0] not in folder:
        return None
    for at in folders_around(folder, marks):
        if os.path.basename(folder) == parts[0]:
            return at
        folder = at
    return None
