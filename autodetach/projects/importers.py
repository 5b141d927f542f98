"""Which files of a project import a file: they stand near it, and what they do with it is not written in it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Set

from autodetach.projects.imports import INIT, INSTALLED, Imports, bytes_at, project_root
from autodetach.relevance import imports_in

SUFFIX = ".py"
MAX_FILES = 256
"""So many files around are looked through, the nearest first."""
MAX_IMPORTERS = 6


def importers(paths: Collection[str], but: Set[str], cwd: str) -> list[str]:
    """The files around that import one of `paths` (absolute ones), directly or not, by their own paths.

    None of `but`, though these may stand between. Those that no other one imports come first; at most MAX_IMPORTERS.
    """
    meant = {path for path in paths if path.endswith(SUFFIX) and "." not in _module(path)}
    around = _around(meant)
    if but >= set(around):
        return []
    names = {path: frozenset(imports_in(raw)) for path in around if (raw := bytes_at(path)) is not None}
    found = set[str]()
    imported = set[str]()
    reached = meant
    while reached:
        modules = {_module(path) for path in reached}
        more = set[str]()
        for path, its in names.items():
            finder = Imports(path, cwd)
            hits = {at for name in its if _may_be(name, modules) and (at := finder.find(name, path)) in reached}
            if hits - {path}:
                imported |= hits
                more.add(path)
        reached = more - found - meant
        found |= reached
    beside = [path for path in around if path in found and path not in but]
    return sorted(beside, key=lambda path: path in imported)[:MAX_IMPORTERS]


def _may_be(name: str, modules: Collection[str]) -> bool:
    """Whether what is imported by a dotted name may be one of some modules; of dots alone, it is a package."""
    last = name.rpartition(".")[2]
    return not last or last in modules


def _module(path: str) -> str:
    """The last part of the name by which a file is imported."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name == INIT else name[: -len(SUFFIX)]


def _around(paths: Collection[str]) -> list[str]:
    """Files in the folders of some files, in those above within the project, and in those right below its root."""
    found: dict[str, None] = {}
    for folder in dict.fromkeys(folder for path in sorted(paths) for folder in _folders(os.path.dirname(path))):
        for path in _files_in(folder):
            found[path] = None
            if len(found) > MAX_FILES:
                return list(found)
    return list(found)


def _folders(folder: str) -> Iterator[str]:
    root = project_root(folder)
    yield folder
    while folder != root and folder != os.path.dirname(folder):
        folder = os.path.dirname(folder)
        yield folder
    if os.path.basename(root) not in INSTALLED:
        yield from (entry.path for entry in _entries(root) if entry.is_dir() and not entry.name.startswith("."))


def _files_in(folder: str) -> list[str]:
    return [entry.path for entry in _entries(folder) if entry.name.endswith(SUFFIX) and entry.is_file()]


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as scan:
            return sorted(scan, key=lambda entry: entry.name)
    except OSError:
        return []
