"""Which files of a project import a file: they stand near it, and what they do with it is not written in it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Set

from autodetach.disk.files import SUFFIX
from autodetach.projects.imports import INIT, INSTALLED, Imports, bytes_at, project_root
from autodetach.relevance import imports_in
from autodetach.settings.config import SUFFIXES
from autodetach.source import Source

MAX_FILES = 256
"""So many files around are looked through, the nearest first."""
MAX_FOLDERS = 64
DEPTH = 2
"""So deep below the root of a project scripts stand, as in `experiments/digits/train.py`."""
MAX_IMPORTERS = 12


def importers(paths: Collection[str], but: Set[str], cwd: str, changed: Mapping[str, Source] = {}) -> list[str]:
    """The files around that import one of `paths` (absolute ones), directly or not, by their own paths.

    None of `but`, though these may stand between. Those that no other one imports come first; at most MAX_IMPORTERS.
    `changed` has sources that are to be taken instead of what is on disk.
    """
    meant = {path for path in paths if path.endswith(SUFFIX) and "." not in _module(path)}
    around = _around(meant)
    if but >= set(around):
        return []
    found = set[str]()
    imported = set[str]()
    reached = meant
    while reached:
        more = set[str]()
        for path in around:
            raw = changed[path].raw if path in changed else bytes_at(path)
            hits = _imported_by(path, raw, reached, cwd) - {path}
            if hits:
                imported |= hits
                more.add(path)
        reached = more - found - meant
        found |= reached
    beside = [path for path in around if path in found and path not in but]
    return sorted(beside, key=lambda path: path in imported)[:MAX_IMPORTERS]


def _imported_by(path: str, raw: bytes | None, paths: Set[str], cwd: str) -> set[str]:
    """Those of some files that a file imports itself, whose bytes are `raw`."""
    modules = {_module(at) for at in paths}
    if raw is None or not (b"from ." in raw or any(os.fsencode(module) in raw for module in modules)):
        return set()
    finder = Imports(path, cwd)
    # By dots alone, a package is meant.
    names = {name for name in imports_in(raw) if name.rpartition(".")[2] in modules or not name.strip(".")}
    return {at for name in names if (at := finder.find(name, path)) is not None and at in paths}


def _module(path: str) -> str:
    """The last part of the name by which a file is imported."""
    folder, name = os.path.split(path)
    return os.path.basename(folder) if name == INIT else os.path.splitext(name)[0]


def _around(paths: Collection[str]) -> list[str]:
    """Files in the folders of some files, in those above within the project, and in those not far below its root."""
    found: dict[str, None] = {}
    for folder in dict.fromkeys(folder for path in sorted(paths) for folder in _folders(os.path.dirname(path))):
        for path in _files_in(folder):
            found[path] = None
            if len(found) > MAX_FILES:
                return list(found)
    return list(found)


def _folders(folder: str) -> Iterator[str]:
    root = project_root(folder)
    is_installed = os.path.basename(root) in INSTALLED
    while not (folder == root and is_installed):
        yield folder
        if folder in (root, os.path.dirname(folder)):
            break
        folder = os.path.dirname(folder)
    below = [] if is_installed else [root]
    for _ in range(DEPTH):
        below = [inner for at in below for inner in _folders_in(at)][:MAX_FOLDERS]
        yield from below


def _folders_in(folder: str) -> list[str]:
    return [one.path for one in _entries(folder) if not one.name.startswith(".") and one.is_dir(follow_symlinks=False)]


def _files_in(folder: str) -> list[str]:
    return [one.path for one in _entries(folder) if one.name.endswith(SUFFIXES) and one.is_file(follow_symlinks=False)]


def _entries(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as scan:
            return sorted(scan, key=lambda entry: entry.name)
    except OSError:
        return []
