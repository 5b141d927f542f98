"""Which paths the patterns of `.gitignore` files leave out.

Written here and not taken from a package because the nesting of files, which is the larger half, is in none of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from autodetach.disk.globs import glob_regex


@dataclass(frozen=True, slots=True)
class Pattern:
    """One line of a `.gitignore`; `regex` is matched against a posix path relative to the folder of that file."""

    regex: re.Pattern[str]
    negated: bool
    only_folders: bool


@dataclass(frozen=True, slots=True)
class IgnoreFile:
    """The patterns of one file; they are relative to `folder`, an absolute posix path without a final slash."""

    folder: str
    patterns: tuple[Pattern, ...]

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether the absolute posix `path` is left out; None if no pattern speaks of it or it lies elsewhere."""
        if not path.startswith(self.folder + "/"):
            return None
        relative = path[len(self.folder) + 1 :]
        for pattern in reversed(self.patterns):
            if (is_folder or not pattern.only_folders) and pattern.regex.fullmatch(relative):
                return not pattern.negated
        return None


def is_ignored(files: Iterable[IgnoreFile], path: str, *, is_folder: bool) -> bool:
    """Whether the innermost of `files` (ordered from the root inwards) that speaks of `path` leaves it out."""
    for file in reversed(tuple(files)):
        verdict = file.verdict(path, is_folder=is_folder)
        if verdict is not None:
            return verdict
    return False


def parse(text: str, folder: str) -> IgnoreFile:
    """Read the text of a `.gitignore` that lies in `folder`. A line that git could not use matches nothing."""
    lines = text.removeprefix("\ufeff").split("\n")
    patterns = (_pattern(line.removesuffix("\r")) for line in lines)
    return IgnoreFile(folder.rstrip("/"), tuple(pattern for pattern in patterns if pattern is not None))


def _pattern(line: str) -> Pattern | None:
    stripped = line.rstrip(" ")
    # A blank behind a backslash is meant.
    line = f"{stripped} " if stripped.endswith("\\") and stripped != line else stripped
    if not line or line.startswith("#"):
        return None
    negated = line.startswith("!")
    glob = line[1:] if negated else line
    only_folders = glob.endswith("/")
    glob = glob.removesuffix("/")
    anchored = "/" in glob
    glob = glob.removeprefix("/")
    if not glob:
        return None
    return Pattern(glob_regex(glob if anchored else f"**/{glob}"), negated, only_folders)
