"""What an analysis rests on, outside of the settings: the bytes of files, the names in folders, the marks of projects.

All of it is noted before it is used, so that what changes in between is taken for changed later. A file, or a folder,
that has the size, time and inode that it had is the same without being read, as git and ruff have it; one that had
just been written when it was looked at has no time that says so (`YOUNG_NANOSECONDS`).
"""

from __future__ import annotations

import os
import time
from functools import lru_cache

from autodetach.named_tuples import NamedTuple

YOUNG_NANOSECONDS = 2_000_000_000
"""A file system may count time in steps of two seconds (FAT), so that a later change leaves the time as it was."""
NOTHING = (0, 0, 0)
"""The mark of what is not there, or may change without showing it."""
ABSENT = ""
"""The digest of what cannot be read."""

Mark = tuple[int, int, int]
"""Size in bytes, time of the last change in nanoseconds, inode."""
Known = tuple[Mark, str]
"""A mark, and the digest of what was there then."""


class Ground(NamedTuple):
    """What one analysis rests on, by absolute path: files, the analysed one first, folders, and places in projects."""

    files: tuple[tuple[str, Known], ...]
    folders: tuple[tuple[str, Known], ...] = ()
    places: tuple[tuple[str, str], ...] = ()


def digest(data: bytes) -> str:
    """A short name for these bytes that no other bytes have."""
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()


def mark_of(path: str) -> Mark:
    """The mark of a file or a folder as it is now."""
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return NOTHING
    return status.st_size, status.st_mtime_ns, status.st_ino


def settled(mark: Mark, now: int) -> Mark:
    """The mark, if a change after `now` (nanoseconds) would change it too, else NOTHING."""
    return NOTHING if mark[1] > now - YOUNG_NANOSECONDS else mark


def known_at(mark: Mark, found: str) -> Known:
    """What is to be noted of something whose mark was taken before it was read."""
    return settled(mark, time.time_ns()), found


def file_digest(path: str) -> str:
    """The digest of the file as it is now."""
    try:
        with open(path, "rb") as file:
            return digest(file.read())
    except (OSError, ValueError):
        return ABSENT


def folder_digest(path: str) -> str:
    """The digest of the names in a folder that an import may mean: Python files and folders; links with their ends."""
    names = []
    try:
        with os.scandir(path) as scan:
            for entry in scan:
                if entry.is_symlink():
                    names.append(f"{entry.name}\0{os.readlink(entry.path)}")
                elif entry.name.endswith(".py"):
                    names.append(entry.name)
                elif entry.is_dir(follow_symlinks=False) and not entry.name.startswith((".", "__pycache__")):
                    names.append(f"{entry.name}/")
    except (OSError, ValueError):
        return ABSENT
    return digest("\n".join(sorted(names)).encode("utf-8", "surrogateescape"))


@lru_cache(maxsize=16384)
def known_folder(path: str) -> Known:
    """What is to be noted of a folder; once in a run."""
    mark = settled(mark_of(path), time.time_ns())
    return mark, folder_digest(path)
