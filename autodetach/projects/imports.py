"""From an import to a file of the same project: found where Python would look, read, but never imported or run."""

from __future__ import annotations

import os
import sys
from functools import cached_property, lru_cache

from autodetach.decoding import SourceError
from autodetach.disk.files import ReadError, read_bytes, relative
from autodetach.disk.state import ABSENT, NOTHING, Ground, Known, digest, file_digest, known_at, known_folder, mark_of
from autodetach.projects.search_path import folder_above, folders_around, looks_around
from autodetach.source import Source

MAX_FILE_BYTES = 200_000
MAX_BYTES = 1_000_000
"""What one program may import in all."""

PROJECT_MARKS = ("pyproject.toml", "setup.py", "setup.cfg", ".git", ".hg")
SOURCE_FOLDERS = ("", "src")
# Whoever checks the sources of PyTorch does not want them run on the machine, which knows them by heart: its own files
# do not follow each other either, however they spell it.
PYTORCH = "torch"
NEVER = sys.stdlib_module_names | {PYTORCH}
INSTALLED = ("site-packages", "dist-packages")
"""Folders in which every package is a project of its own."""
INIT = "__init__.py"


class Imports:
    """Finds and reads what a file imports, and remembers it. `root` is the absolute path of that file."""

    def __init__(self, root: str, cwd: str, *, notes: bool = False) -> None:
        """With `notes`, everything that is looked at is noted down, for `ground`."""
        self._root = root
        self._cwd = cwd
        self._own = os.path.dirname(root)
        self._project = project_root(self._own)
        self._sources: dict[str, Source | None] = {}
        self._bytes = 0
        self._notes = notes
        self._places: dict[str, str] = {self._own: place_of(self._own)} if notes else {}
        self._looked: dict[str, Known] = {}
        self._read_files: dict[str, Known] = {}

    def ground(self, own: Known) -> Ground:
        """What everything rests on that was found and read so far; `own` is what is known of the root."""
        return Ground(
            ((self._root, own), *self._read_files.items()), tuple(self._looked.items()), tuple(self._places.items())
        )

    def find(self, name: str, importer: str) -> str | None:
        """The absolute path of what `import name` means in the file `importer` (leading dots: relative), or None.

        Of a package it is that of its `__init__.py`, which need not exist.
        """
        level = len(name) - len(name.lstrip("."))
        parts = [part for part in name[level:].split(".") if part]
        folder = os.path.dirname(importer)
        package = top_package(folder)
        if package == PYTORCH:
            return None
        if level:
            for _ in range(level - 1):
                folder = os.path.dirname(folder)
            return self._in(folder, parts, self._home(folder))
        if not parts or parts[0] in NEVER:
            return None
        if os.path.basename(self._project) in INSTALLED and parts[0] != package:
            return None
        for at in self._folders(folder):
            if (found := self._in(at, parts, self._project)) is not None:
                return found
        above = folder_above(folder, parts, PROJECT_MARKS)
        if above is not None and (found := self._in(above, parts, above)) is not None and os.path.isfile(found):
            return found
        return next((found for at in self._around if (found := self._in(at, parts, at)) is not None), None)

    def read(self, path: str) -> Source | None:
        """The source at a path that `find` gave; None where it cannot be read, or is too long to be followed."""
        if path not in self._sources:
            self._sources[path] = source = self._read(path)
            self._bytes += 0 if source is None else len(source.raw)
        return self._sources[path]

    def peek(self, path: str) -> bytes | None:
        """The bytes at a path that `find` gave, which do not count as read; None where they are too many, or none."""
        if self._notes and path not in self._read_files:
            mark = mark_of(path)
            self._read_files[path] = known_at(mark, file_digest(path))
        return bytes_at(path)

    def _folders(self, importer: str) -> list[str]:
        """Where Python would look, as far as that can be known without running it."""
        package = package_parent(importer)
        if self._notes and importer not in self._places:
            self._places[importer] = place_of(importer)
        # A file inside a package is imported more often than it is run.
        is_first = not is_package(self._own) or self._is_script
        first = [self._own, package] if is_first else [package, self._own]
        rest = [os.path.join(self._project, inner) if inner else self._project for inner in SOURCE_FOLDERS]
        return list(dict.fromkeys((*first, *rest)))

    @cached_property
    def _is_script(self) -> bool:
        """Whether the analysed file, which stands in a package, is run, and nothing that it imports is only around."""
        from autodetach.projects.scripts import imported, is_script

        raw = bytes_at(self._root)
        if raw is None or not is_script(raw):
            return False
        around = dict.fromkeys((package_parent(self._own), self._project))
        names = [parts for parts in imported(raw) if parts[0] not in NEVER]
        elsewhere = [parts for parts in names if self._in(self._own, [*parts], self._project) is None]
        return not any(self._in(at, [*parts], self._project) for parts in elsewhere for at in around)

    @cached_property
    def _around(self) -> tuple[str, ...]:
        """What the analysed file puts on `sys.path` beside, for all files that it imports."""
        from autodetach.projects.named_folders import named_folders

        raw = bytes_at(self._root)
        if raw is None or not looks_around(raw):
            return ()
        above = folders_around(self._own, PROJECT_MARKS)
        homes = (self._project, *above)
        named = (at for at in named_folders(raw, self._own, self._project) if at not in homes)
        return (*(at for at in named if any(is_inside(home, at) for home in homes)), *above)

    def _home(self, folder: str) -> str:
        """The folder that a relative import does not leave."""
        is_own = is_inside(self._project, folder) or os.path.realpath(folder) == os.path.realpath(self._project)
        return self._project if is_own else next((at for at in self._around if is_inside(at, folder)), self._project)

    def _in(self, folder: str, parts: list[str], home: str) -> str | None:
        names = tuple(parts)
        if self._notes:
            self._note(folder, names)
        found = module_in(folder, names)
        return found if found is not None and is_inside(home, found) else None

    def _note(self, folder: str, names: tuple[str, ...]) -> None:
        """Note the folders that tell whether there is a module with this name."""
        for name in (*names, ""):
            if folder not in self._looked:
                self._looked[folder] = known_folder(folder)
            if self._looked[folder][1] == ABSENT:
                break
            folder = os.path.join(folder, name)

    def _read(self, file: str) -> Source | None:
        mark = mark_of(file) if self._notes else NOTHING
        source = self._source(file)
        if self._notes:
            # Where there is no text, there may be a file all the same: one that is too long, or none of Python's.
            found = digest(source.raw) if source is not None and source.raw else file_digest(file)
            self._read_files[file] = known_at(mark, found)
        return source

    def _source(self, file: str) -> Source | None:
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


@lru_cache(maxsize=256)
def bytes_at(path: str) -> bytes | None:
    """The bytes of a file, none of a package without `__init__.py`; None where they are too many to be followed."""
    try:
        raw = read_bytes(path)
    except ReadError:
        return None if os.path.lexists(path) else b""
    return raw if len(raw) <= MAX_FILE_BYTES else None


@lru_cache(maxsize=16384)
def module_in(folder: str, parts: tuple[str, ...]) -> str | None:
    """The file of the module with this name in a folder; of a package its `__init__.py`, which need not exist."""
    inner = os.path.join(folder, *parts)
    init = os.path.join(inner, INIT)
    if os.path.isfile(init):
        return init
    if parts and os.path.isfile(inner + ".py"):
        return inner + ".py"
    return init if holds_python(inner) else None


@lru_cache(maxsize=16384)
def is_inside(project: str, file: str) -> bool:
    """Whether no symbolic link leads from a file out of the project."""
    root = os.path.realpath(project)
    return os.path.realpath(file).startswith(root if root.endswith(os.sep) else root + os.sep)


@lru_cache(maxsize=4096)
def project_root(folder: str) -> str:
    """The nearest folder, from `folder` upwards, that looks like a project's; else the one above all packages."""
    at = folder
    while not any(os.path.exists(os.path.join(at, mark)) for mark in PROJECT_MARKS):
        parent = os.path.dirname(at)
        if parent == at:
            return package_parent(folder)
        at = parent
    return at


@lru_cache(maxsize=4096)
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
def top_package(folder: str) -> str:
    """The name of the outermost package around `folder`; empty where there is none."""
    return folder[len(package_parent(folder)) :].strip(os.sep).partition(os.sep)[0]


@lru_cache(maxsize=4096)
def holds_python(folder: str) -> bool:
    """Whether a folder can be a package without `__init__.py`."""
    try:
        with os.scandir(folder) as scan:
            return any(entry.name.endswith(".py") for entry in scan)
    except OSError:
        return False


@lru_cache(maxsize=16384)
def place_of(folder: str) -> str:
    """Of which project and package a folder is a part, in words that change when that does."""
    return f"{project_root(folder)}\0{package_parent(folder)}\0{is_package(folder)}"


def forget() -> None:
    """Look at folders anew from now on: what is found is remembered, since many files of a project import the same."""
    for memory in (
        bytes_at,
        folders_around,
        holds_python,
        is_inside,
        is_package,
        known_folder,
        module_in,
        place_of,
        project_root,
        top_package,
    ):
        memory.cache_clear()
