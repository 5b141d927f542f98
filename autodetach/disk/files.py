"""From the paths of a command line to the files to look at, and from a file to its bytes."""

from __future__ import annotations

import contextlib
import math
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from autodetach.disk.reasons import reason_of
from autodetach.finding import Problem
from autodetach.named_tuples import NamedTuple
from autodetach.settings.config import SUFFIXES, Configuration, Settings, posix

if TYPE_CHECKING:
    from autodetach.disk.gitignore import IgnoreFile

SUFFIX, NOTEBOOK_SUFFIX = SUFFIXES
MAX_BYTES = 10 * 1024 * 1024
MAX_NOTEBOOK_BYTES = 100 * 1024 * 1024
"""Most of a notebook are the pictures in its outputs."""


class ReadError(Exception):
    """A file that was not read; the text says why, in one clause, and `line` (from 1) where, if there is a line."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


class FoundFile(NamedTuple):
    """A file to look at: its absolute path, and its name in messages (relative to the current folder below it)."""

    path: str
    shown: str


class FoundFiles(NamedTuple):
    """Files in the order of the paths given, each file once, and what stood in the way of finding more."""

    files: tuple[FoundFile, ...]
    problems: tuple[Problem, ...]


def find_files(paths: Sequence[str], configuration: Configuration, cwd: str) -> FoundFiles:
    """Look for Python files and notebooks at `paths`, which are relative to the absolute folder `cwd`.

    A file that is named is taken whatever its suffix and whatever the settings exclude. A folder is walked: files that
    end in `.py` or `.ipynb`, without what `exclude` or a `.gitignore` leaves out; links to folders are not followed.
    What cannot be read becomes a Problem. Raises ConfigError.
    """
    search = _Search(configuration, cwd)
    for path in paths:
        search.add(path)
    return FoundFiles(tuple(search.unique()), tuple(search.problems))


def left_out(path: str, root: str, configuration: Configuration) -> bool:
    """Whether a walk of the absolute folder `root` would not come to the file `path` below it. Raises ConfigError."""
    from autodetach.disk.gitignore import is_ignored

    parts = below(path, root).split(os.sep)
    ignores = _ignore_files_above(root)
    folder = root
    for depth, part in enumerate(parts, start=1):
        settings = configuration.settings_for(folder)
        if os.path.exists(os.path.join(folder, ".git")):
            ignores = (_ignore_file(os.path.join(folder, ".git", "info", "exclude"), folder), *ignores)
        ignores = (*ignores, _ignore_file(os.path.join(folder, ".gitignore"), folder))
        folder = os.path.join(folder, part)
        where = posix(folder)
        if settings.excludes(where) or is_ignored(ignores, where, is_folder=depth < len(parts)):
            return True
    return False


def read_bytes(path: str) -> bytes:
    """The bytes of the file at `path`. Raises ReadError, also for a file that is too large."""
    limit = limit_of(path)
    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            if stat.S_ISREG(status.st_mode):
                check_size(status.st_size, limit)
            # A pipe does not tell its size, and a file may grow.
            raw = file.read(limit + 1)
    except OSError as error:
        raise ReadError(reason_of(error)) from None
    check_size(len(raw), limit)
    return raw


def read_stdin(path: str = "") -> bytes:
    """All bytes of the standard input. Raises ReadError, also if they are too many for a file at `path`."""
    limit = limit_of(path)
    try:
        raw = sys.stdin.buffer.read(limit + 1)
    except OSError as error:
        raise ReadError(reason_of(error)) from None
    if len(raw) > limit:
        raise ReadError(f"too large: more than {_megabytes(limit)}, the limit")
    return raw


def limit_of(path: str) -> int:
    """How many bytes a file with this name may have."""
    return MAX_NOTEBOOK_BYTES if path.endswith(NOTEBOOK_SUFFIX) else MAX_BYTES


def check_size(size: int, limit: int) -> None:
    """Raises ReadError if so many bytes are too many."""
    if size > limit:
        raise ReadError(f"too large: {_megabytes(size)}; limit {_megabytes(limit)}")


class _Search:
    def __init__(self, configuration: Configuration, cwd: str) -> None:
        self.problems: list[Problem] = []
        self._configuration = configuration
        self._cwd = cwd
        # Path, real path, whether it is a link: of a file and links to it, the file is the one to name.
        self._found: list[tuple[FoundFile, str, bool]] = []
        self._repositories: dict[str, str] = {}

    def add(self, path: str) -> None:
        # A shell variable that is not set must not mean the current folder.
        if not path:
            self.problems.append(Problem('""', "an empty path"))
            return
        absolute = os.path.abspath(os.path.join(self._cwd, path))
        try:
            status = os.stat(absolute)
            real = os.path.realpath(absolute)
        except (OSError, ValueError) as error:
            self._fail(absolute, reason_of(error))
            return
        if stat.S_ISDIR(status.st_mode):
            self._walk(absolute, real)
        else:
            self._found.append((FoundFile(absolute, self._shown(absolute)), real, False))

    def unique(self) -> Iterator[FoundFile]:
        files = {real for _, real, is_link in self._found if not is_link}
        seen: set[str] = set()
        for file, real, is_link in self._found:
            if real not in seen and not (is_link and real in files):
                seen.add(real)
                yield file

    def _walk(self, root: str, real_root: str) -> None:
        from autodetach.disk.gitignore import is_ignored

        # A stack and not recursion: a tree can be deeper than Python's stack.
        pending: list[tuple[str, tuple[IgnoreFile, ...], os.DirEntry[str] | None]]
        pending = [(root, _ignore_files_above(root), None)]
        while pending:
            path, ignores, entry = pending.pop()
            if entry is not None and not entry.is_dir(follow_symlinks=False):
                self._take(entry, root, real_root)
                continue
            try:
                with os.scandir(path) as scan:
                    entries = sorted(scan, key=lambda entry: entry.name, reverse=True)
                if any(entry.name == ".gitignore" for entry in entries):
                    ignores = (*ignores, _ignore_file(os.path.join(path, ".gitignore"), path))
                if any(entry.name == ".git" for entry in entries):
                    ignores = (_ignore_file(os.path.join(path, ".git", "info", "exclude"), path), *ignores)
            except OSError as error:
                self._fail(path, f"cannot read the folder: {reason_of(error)}")
                continue
            settings = self._configuration.settings_for(path)
            for inner in entries:
                is_folder = inner.is_dir(follow_symlinks=False)
                where = posix(inner.path)
                if (is_folder or _is_included(settings, inner.name, where)) and not (
                    settings.excludes(where) or is_ignored(ignores, where, is_folder=is_folder)
                ):
                    pending.append((inner.path, ignores, inner))

    def _take(self, entry: os.DirEntry[str], root: str, real_root: str) -> None:
        real = real_root + entry.path[len(root) :]
        if entry.is_symlink():
            # Emacs marks a file that is being edited with a link that leads nowhere.
            if entry.name.startswith(".#") or os.path.isdir(entry.path):
                return
            try:
                real = os.path.realpath(entry.path, strict=True)
                if not os.path.isfile(real):
                    return  # it may be a terminal, or a device without an end
                if not any(real.startswith(os.path.join(at, "")) for at in self._homes(root, real_root)):
                    message = "a link that leads out of the folder and its repository; to look at it, name it"
                    self.problems.append(Problem(self._shown(entry.path), message, partial=True))
                    return
            except FileNotFoundError:
                self._fail(entry.path, "a link to a file that is not there")
                return
            except OSError as error:
                self._fail(entry.path, reason_of(error))
                return
        elif not entry.is_file(follow_symlinks=False):
            return
        self._found.append((FoundFile(entry.path, self._shown(entry.path)), real, entry.is_symlink()))

    def _homes(self, root: str, real_root: str) -> tuple[str, ...]:
        """Where links may lead that a walk of a folder comes to: somebody else may have made them."""
        if root not in self._repositories:
            self._repositories[root] = repository_of(real_root) or real_root
        return real_root, os.path.realpath(self._cwd), self._repositories[root]

    def _fail(self, path: str, message: str) -> None:
        self.problems.append(Problem(self._shown(path), message))

    def _shown(self, path: str) -> str:
        return relative(path, self._cwd)


def _is_included(settings: Settings, name: str, path: str) -> bool:
    return name.endswith(SUFFIXES) if settings.include is None else settings.include.match(path)


def relative(path: str, cwd: str) -> str:
    """An absolute path as it is shown: relative to the folder `cwd` if it lies below it, else as it is.

    A line that begins with `::` or `##` may be a command to a service that reads what is printed.
    """
    name = below(path, cwd)
    return os.path.join(".", name) if name.lstrip().startswith((":", "##")) else name


def below(path: str, cwd: str) -> str:
    """An absolute path relative to the folder `cwd` if it lies below it, else as it is."""
    prefix = cwd if cwd.endswith(os.sep) else cwd + os.sep
    return path[len(prefix) :] if path.startswith(prefix) and len(path) > len(prefix) else path


def repository_of(folder: str) -> str | None:
    """The nearest folder, from `folder` upwards, with a `.git`."""
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return None
        folder = parent
    return folder


def _ignore_files_above(root: str) -> tuple[IgnoreFile, ...]:
    """What the repository around a folder leaves out; without a repository nothing, since ~/.gitignore means little."""
    files: list[IgnoreFile] = []
    folder = root
    while not os.path.exists(os.path.join(folder, ".git")):
        parent = os.path.dirname(folder)
        if parent == folder:
            return ()
        folder = parent
        files.insert(0, _ignore_file(os.path.join(folder, ".gitignore"), folder))
    if folder == root:
        return ()
    return (_ignore_file(os.path.join(folder, ".git", "info", "exclude"), folder), *files)


def _ignore_file(file: str, folder: str) -> IgnoreFile:
    from autodetach.disk.gitignore import parse

    text = ""
    # A pipe, or a link to a terminal, would be waited for.
    if os.path.isfile(file):
        with contextlib.suppress(OSError), open(file, "rb") as stream:
            text = os.fsdecode(stream.read(MAX_BYTES))
    return parse(text, posix(folder))


def _megabytes(size: int) -> str:
    return f"{math.ceil(size / 1024 / 1024 * 10) / 10:g} MB"
