"""The files of one program: their sources, their syntax trees, and the count of lines that they share."""

from __future__ import annotations

import ast
import os
import warnings
import zlib
from collections.abc import Mapping
from typing import Protocol

from autodetach.machine.project import Module
from autodetach.old_names import parsed
from autodetach.relevance import says
from autodetach.source import Source

MAX_MODULES = 48
ROOM_OF_ROOT = 1 << 24
ROOM = 1 << 18
"""Line numbers that are kept for a file: more than a file that is read can have, and grow by."""
ROOMS = ((1 << 31) - ROOM_OF_ROOT) // ROOM - 1
MAX_KEPT_CHARACTERS = 1_500_000
"""Of the text of kept trees: what the files of one program have in common, up to MAX_MODULES of them, should fit in.

A tree takes some fifty times the memory of its text.
"""


class Finder(Protocol):
    """Finds and reads the files that others import; see `autodetach.projects.imports`."""

    def find(self, name: str, importer: str) -> str | None: ...

    def read(self, path: str) -> Source | None: ...

    def peek(self, path: str) -> bytes | None: ...


class Files:
    """A program: the file at `path`, and what it imports as far as `finder` finds it. A `Project` of the machine.

    `changed` has sources, by path, that are to be taken instead of those that the finder reads; the files at the paths
    `without` are as if they could not be found.
    """

    def __init__(
        self,
        path: str,
        source: Source,
        tree: ast.Module,
        finder: Finder | None = None,
        changed: Mapping[str, Source] | None = None,
        without: frozenset[str] = frozenset(),
    ) -> None:
        self._finder = finder
        self._without = without
        self._changed = changed or {}
        self._found: dict[tuple[str, str], Module | None] = {}
        self._paths: dict[tuple[str, str], str | None] = {}
        self.root = Module(path, "__main__", tree, 0, ROOM_OF_ROOT)
        self.modules = [self.root]
        self._taken: set[int] = set()
        self.sources = {path: source}
        self._by_path = {path: self.root}
        self._idle: dict[str, bool] = {}

    def anew(self) -> Files:
        """The same program, of which nothing is loaded yet but the file itself."""
        root = self.root
        return Files(root.path, self.sources[root.path], root.tree, self._finder, self._changed, self._without)

    def load(self, name: str, importer: Module) -> Module | None:
        """See `Project.load`."""
        key = (importer.path, name)
        if key not in self._found:
            path = self.find(name, importer)
            module = self._found[key] = None if path is None else self._module(path)
            self._paths[key] = None if module is None else path
        return self._found[key]

    def is_left_out(self, name: str, importer: Module) -> bool:
        """See `Project.is_left_out`."""
        path = self._finder.find(name, importer.path) if self._without and self._finder is not None else None
        return path in self._without

    def find(self, name: str, importer: Module) -> str | None:
        """See `Project.find`."""
        key = (importer.path, name)
        if key not in self._paths:
            self._paths[key] = None if self._finder is None else self._finder.find(name, importer.path)
        return self._paths[key]

    def is_idle(self, path: str) -> bool:
        """See `Project.is_idle`."""
        if path not in self._idle:
            changed = {at: source.raw for at, source in self._changed.items()}
            self._idle[path] = self._finder is None or not says([path], self._finder, changed)
        return self._idle[path]

    @property
    def sought(self) -> Mapping[tuple[str, str], str | None]:
        """Where the files are that were to be found, or loaded, by the path of the importer and the name."""
        return self._paths

    @property
    def loaded(self) -> Mapping[tuple[str, str], Module | None]:
        """What was to be loaded, and what was, likewise."""
        return self._found

    @property
    def idle(self) -> Mapping[str, bool]:
        """The paths of which was asked whether they are idle, and the answers."""
        return self._idle

    def module_of(self, path: str) -> Module | None:
        """What is loaded of a path."""
        return self._by_path.get(path)

    def module_at(self, line: int) -> Module:
        """The file that a line of the program belongs to; the root for what has no line."""
        return next((m for m in self.modules if m.first < line <= m.last), self.root)

    def line_name(self, line: int) -> str:
        """See `Project.line_name`."""
        module = self.module_at(line)
        if module is not self.root:
            return f"line {line - module.first} of {os.path.basename(module.path)}"
        at = self.sources[module.path].place_of_line(line)
        return f"line {line}" if at.cell is None else f"cell {at.cell}, line {at.line}"

    def cell_of(self, line: int) -> int | None:
        """See `Project.cell_of`."""
        module = self.module_at(line)
        return self.sources[module.path].place_of_line(line).cell if module is self.root else None

    def edited(self, sources: Mapping[str, Source]) -> Edited:
        """The same program with other sources for some of its files. Raises SyntaxError and ValueError."""
        return Edited(self, sources)

    def _module(self, path: str) -> Module | None:
        if path in self._by_path:
            return self._by_path[path]
        if len(self.modules) > MAX_MODULES or self._finder is None or path in self._without:
            return None
        source = self._changed.get(path) or self._finder.read(path)
        if source is None:
            return None
        first = self._room(path)
        try:
            tree = _tree(path, source.text, first)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return None  # it is told when that file has its turn
        name, is_package = module_name(path)
        module = Module(path, name, tree, first, first + ROOM, is_package)
        self._by_path[path] = module
        self.sources[path] = source
        self.modules.append(module)
        return module

    def _room(self, path: str) -> int:
        """Line numbers for a file: the same in every program, but for a rare clash, so that its tree can be kept."""
        room = zlib.crc32(os.fsencode(path)) % ROOMS
        while room in self._taken:
            room = (room + 1) % ROOMS
        self._taken.add(room)
        return ROOM_OF_ROOT + room * ROOM


class Edited:
    """A program some of whose files are edited; all else is that of `base`."""

    def __init__(self, base: Files, sources: Mapping[str, Source]) -> None:
        from autodetach.incremental.reparse import reparsed

        self._base = base
        self._replaced: dict[str, Module] = {}
        for old in base.modules:
            source = sources.get(old.path)
            if source is None:
                continue
            if source.line_count > old.last - old.first:
                raise ValueError("too many lines would be added")
            tree = reparsed(old.tree, base.sources[old.path], source, old.first) or parse(source, old.first)
            self._replaced[old.path] = Module(old.path, old.name, tree, old.first, old.last, old.is_package)

    @property
    def root(self) -> Module:
        return self._now(self._base.root)

    @property
    def modules(self) -> list[Module]:
        return [self._now(module) for module in self._base.modules]

    def line_name(self, line: int) -> str:
        """See `Project.line_name`: nobody reads what is said of an edited program."""
        return self._base.line_name(line)

    def cell_of(self, line: int) -> int | None:
        """See `Project.cell_of`."""
        return self._base.cell_of(line)

    def load(self, name: str, importer: Module) -> Module | None:
        """See `Project.load`."""
        found = self._base.load(name, importer)
        return None if found is None else self._now(found)

    def find(self, name: str, importer: Module) -> str | None:
        """See `Project.find`."""
        return self._base.find(name, importer)

    def is_left_out(self, name: str, importer: Module) -> bool:
        """See `Project.is_left_out`."""
        return self._base.is_left_out(name, importer)

    def is_idle(self, path: str) -> bool:
        """See `Project.is_idle`."""
        return self._base.is_idle(path)

    def _now(self, module: Module) -> Module:
        return self._replaced.get(module.path, module)


def parse(source: Source, first: int = 0) -> ast.Module:
    """The tree of a source, its lines `first` ahead. Raises what `old_names.parsed` raises."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what Python thinks of the user's string escapes is not our subject
        tree = parsed(source.text, source.path)
    return ast.increment_lineno(tree, first) if first else tree


_trees: dict[tuple[str, str, int], ast.Module] = {}
_kept_characters = 0


def _tree(path: str, text: str, first: int) -> ast.Module:
    """The tree of an imported file, kept: many files of a project import the same ones. The oldest ones go first."""
    global _kept_characters
    key = (path, text, first)
    tree = _trees.pop(key, None)
    if tree is None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.increment_lineno(parsed(text, path), first)
        _kept_characters += len(text)
    _trees[key] = tree
    while _kept_characters > MAX_KEPT_CHARACTERS and len(_trees) > 1:
        oldest = next(iter(_trees))
        del _trees[oldest]
        _kept_characters -= len(oldest[1])
    return tree


def module_name(path: str) -> tuple[str, bool]:
    """A short dotted name for a file, and whether it is a package's `__init__.py`."""
    folder, base = os.path.split(path)
    package = os.path.basename(folder)
    if base == "__init__.py":
        return package, True
    return f"{package}.{base.removesuffix('.py')}", False
