"""From an import to a file of the same project: found where Python would look, read, but never imported or run."""

from __future__ import annotations

import os
import sys
from functools import lru_cache

from autodetach.files import ReadError, read_bytes, relative
from autodetach.source import Source, SourceError

MAX_FILE_BYTES = 200_000
MAX_BYTES = 1_000_000
"""What one program may import in all."""

PROJECT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg")
SOURCE_FOLDERS = ("", "src")
# Whoever checks the sources of PyTorch does not want them run on the machine, which knows them by heart.
NEVER = sys.stdlib_module_names | {"torch"}
INIT = "__init__.py"


class Imports:
    """Finds and reads what a file imports, and remembers it. `root` is the absolute path of that file."""

    def __init__(self, root: str, cwd: str) -> None:
        self._cwd = cwd
        self._own = os.path.dirname(root)
        self._project = project_root(self._own)
        self._sources: dict[str, Source | None] = {}
        self._bytes = 0

    def find(self, name: str, importer: str) -> str | None:
        """The absolute path of what `import name` means in the file `importer` (leading dots: relative), or None.

        Of a package it is that of its `__init__.py`, which need not exist.
        """
        level = len(name) - len(name.lstrip("."))
        parts = [part for part in name[level:].split(".") if part]
        folder = os.path.dirname(importer)
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._in(folder, parts)
        if not parts or parts[0] in NEVER:
            return None
        return next((found for at in self._folders(folder) if (found := self._in(at, parts)) is not None), None)

    def read(self, path: str) -> Source | None:
        """The source at a path that `find` gave; None where it cannot be read, or is too long to be followed."""
        if path not in self._sources:
            self._sources[path] = source = self._read(path)
            self._bytes += 0 if source is None else len(source.raw)
        return self._sources[path]

    def _folders(self, importer: str) -> list[str]:
        """Where Python would look, as far as that can be known without running it."""
        package = package_parent(importer)
        # A file inside a package is imported more often than it is run.
        first = [self._own, package] if not is_package(self._own) else [package, self._own]
        rest = [os.path.join(self._project, inner) if inner else self._project for inner in SOURCE_FOLDERS]
        return list(dict.fromkeys((*first, *rest)))

    def _in(self, folder: str, parts: list[str]) -> str | None:
        inner = os.path.join(folder, *parts)
        init = os.path.join(inner, INIT)
        if os.path.isfile(init):
            found = init
        elif parts and os.path.isfile(inner + ".py"):
            found = inner + ".py"
        elif holds_python(inner):
            found = init
        else:
            return None
        return found if self._is_inside(found) else None

    def _is_inside(self, file: str) -> bool:
        """No symbolic link leads out of the project."""
        root = os.path.realpath(self._project)
        return os.path.realpath(file).startswith(root if root.endswith(os.sep) else root + os.sep)

    def _read(self, file: str) -> Source | None:
        shown = relative(file, self._cwd)
        if os.path.basename(file) == INIT and not os.path.isfile(file):
            return Source.from_bytes(b"", shown)
        try:
            raw = read_bytes(file)
            if len(raw) > MAX_FILE_BYTES or self._bytes + len(raw) > MAX_BYTES:
                return None
            return Source.from_bytes(raw, shown)
        except (ReadError, SourceError):
            return None  # it is told when that file has its turn


def project_root(folder: str) -> str:
    """The nearest folder, from `folder` upwards, that looks like a project's; else the one above all packages."""
    at = folder
    while not any(os.path.exists(os.path.join(at, mark)) for mark in PROJECT_MARKS):
        parent = os.path.dirname(at)
        if parent == at:
            return package_parent(folder)
        at = parent
    return at


def is_package(folder: str) -> bool:
    return os.path.isfile(os.path.join(folder, "__init__.py"))


def package_parent(folder: str) -> str:
    """The folder that holds the outermost package around `folder`; `folder` itself where there is none."""
    while is_package(folder):
        parent = os.path.dirname(folder)
        if parent == folder:
            break
        folder = parent
    return folder


@lru_cache(maxsize=4096)
def holds_python(folder: str) -> bool:
    """Whether a folder can be a package without `__init__.py`."""
    try:
        with os.scandir(folder) as scan:
            return any(entry.name.endswith(".py") for entry in scan)
    except OSError:
        return False
