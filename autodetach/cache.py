"""What earlier runs have found, so that what has not changed since is not looked at again.

One file for a project holds the results of all its files, each with what it rests on (`state.Ground`): the bytes of the
file and of what it imports, the names in the folders where imports were looked for, found or not, and the place in the
project. A result counts only for the same rules and options; the name of the file says for which version of this tool
and of Python. It begins with a digest of the rest: what is broken, cut short, or of somebody else is as good as none.
It is replaced as a whole, so that runs at the same time do not see half of it; the last one wins. Nothing in it is run.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterable
from typing import Any

from autodetach import __version__
from autodetach.disk.state import NOTHING, Ground, Known, Mark, digest, file_digest, folder_digest, known_at, mark_of
from autodetach.projects.imports import place_of
from autodetach.record import Record, packed, unpacked

FOLDER = ".autodetach_cache"
MAGIC = b"autodetach cache 1\n"
TAG_NAME = "CACHEDIR.TAG"
TAG = b"Signature: 8a477f597d28d172789f06886806bc55\n# This folder is a cache of autodetach and may be removed.\n"
"""The contents of CACHEDIR.TAG, by which backups know a cache: https://bford.info/cachedir/."""
IGNORE_NAME = ".gitignore"
IGNORE = b"*\n"
SUFFIX = ".findings"
MAX_RESULTS = 50_000
MAX_BYTES = 256 * 1024 * 1024
MAX_AGE_SECONDS = 30 * 24 * 3600
"""Caches of other versions that nobody has used for so long are removed."""


class Cache:
    """The results of one project, in a file in `folder`. Nothing here raises for what is on disk."""

    def __init__(self, folder: str, project: str) -> None:
        self._folder = folder
        self._prefix = digest(os.fsencode(project))[:16]
        self._file = os.path.join(folder, f"{self._prefix}-{_version()}{SUFFIX}")
        # By absolute path: what was known of files and folders; by path and options: results, and what they rest on.
        self._known: dict[str, Known] = {}
        self._results: dict[str, list[Any]] = {}
        self._now: dict[str, Known] = {}
        self._changed = False
        self._load()

    def get(self, path: str, options: str, shown: str) -> tuple[Record, dict[str, str]] | None:
        """What was found in the file at an absolute path, if nothing has changed since, and what files have what bytes.

        These are digests by absolute path. `options` are words for what was looked for.
        """
        entry = self._results.get(f"{options} {path}")
        if entry is None:
            return None
        try:
            files, folders, places, record = entry
            for at, found in files:
                if self._file_now(at) != found:
                    return None
            for at, found in folders:
                if self._folder_now(at) != found:
                    return None
            for at, found in places:
                if place_of(at) != found:
                    return None
            return unpacked(record, shown), dict(files)
        except (ValueError, TypeError, IndexError, AttributeError):
            return None

    def put(self, path: str, options: str, record: Record, ground: Ground) -> None:
        """Keep what was found in a file."""
        files = [[at, found] for at, (_, found) in ground.files]
        folders = [[at, found] for at, (_, found) in ground.folders]
        self._results[f"{options} {path}"] = [files, folders, [list(place) for place in ground.places], packed(record)]
        for at, known in (*ground.files, *ground.folders):
            self._now.setdefault(at, known)
        self._changed = True

    def save(self) -> None:
        """Write down what is new; where that is not possible, leave it."""
        if not self._changed and all(self._known.get(at) == known for at, known in self._now.items()):
            return
        import json

        results = self._results
        if len(results) > MAX_RESULTS:
            results = dict(list(results.items())[-MAX_RESULTS:])
        table: dict[str, int] = {}

        def numbered(pairs: Iterable[list[str]]) -> list[Any]:
            return [[table.setdefault(at, len(table)), found] for at, found in pairs]

        entries = {
            key: [numbered(files), numbered(folders), numbered(places), record]
            for key, (files, folders, places, record) in results.items()
        }
        known = {**self._known, **self._now}
        document = {"paths": list(table), "known": {at: known[at] for at in table if at in known}, "results": entries}
        payload = json.dumps(document, separators=(",", ":")).encode()
        with contextlib.suppress(OSError):
            self._write(MAGIC + digest(payload).encode() + b"\n" + payload)

    def _load(self) -> None:
        try:
            with open(self._file, "rb") as file:
                raw = file.read(MAX_BYTES + 1)
        except OSError:
            return
        head = len(MAGIC) + 33
        if (
            not raw.startswith(MAGIC)
            or len(raw) > MAX_BYTES
            or raw[len(MAGIC) : head] != digest(raw[head:]).encode() + b"\n"
        ):
            return
        import json

        try:
            document = json.loads(raw[head:])
            paths = document["paths"]
            self._known = {
                at: ((size, time, inode), found) for at, ((size, time, inode), found) in document["known"].items()
            }
            self._results = {
                key: [*([[paths[n], found] for n, found in part] for part in (files, folders, places)), record]
                for key, (files, folders, places, record) in document["results"].items()
            }
        except (ValueError, TypeError, KeyError, IndexError, AttributeError, RecursionError):
            self._known, self._results = {}, {}

    def _file_now(self, path: str) -> str:
        return self._look(path, file_digest)

    def _folder_now(self, path: str) -> str:
        return self._look(path, folder_digest)

    def _look(self, path: str, read: Any) -> str:
        """The digest of a file or a folder as it is: the known one if its mark is the known one."""
        now = self._now.get(path)
        if now is None:
            mark: Mark = mark_of(path)
            known = self._known.get(path)
            if known is not None and known[0] == mark and mark != NOTHING:
                now = known
            else:
                now = known_at(mark, read(path))
            self._now[path] = now
        return now[1]

    def _write(self, data: bytes) -> None:
        from autodetach.disk.write import WriteError, write_result

        os.makedirs(self._folder, exist_ok=True)
        for name, content in ((TAG_NAME, TAG), (IGNORE_NAME, IGNORE)):
            # Not through a link: somebody else may have made it, and it may lead anywhere.
            with contextlib.suppress(FileExistsError), open(os.path.join(self._folder, name), "xb") as file:
                file.write(content)
        if os.path.islink(self._file):
            os.unlink(self._file)
        with contextlib.suppress(WriteError):
            write_result(self._file, data)
        self._remove_old()

    def _remove_old(self) -> None:
        import time

        with os.scandir(self._folder) as scan:
            for entry in scan:
                ours = entry.name.startswith(self._prefix) and entry.name.endswith(SUFFIX)
                if ours and entry.path != self._file and entry.stat().st_mtime < time.time() - MAX_AGE_SECONDS:
                    with contextlib.suppress(OSError):
                        os.unlink(entry.path)


def home(folder: str) -> str:
    """Where the cache of a folder lies: there, or in a folder of its own where it would be among other files."""
    try:
        is_ours = all(map(_is_ours, os.listdir(folder))) or _begins_with(os.path.join(folder, TAG_NAME), TAG)
    except OSError:
        return folder
    return folder if is_ours else os.path.join(folder, FOLDER)


def clean(folder: str) -> int | None:
    """Remove the cache in a folder, and the folder if nothing else is in it: how many files; None if there is none.

    Only what this module has written is removed. Raises OSError.
    """
    if not _begins_with(os.path.join(folder, TAG_NAME), TAG):
        return None
    count = 0
    for name in sorted(os.listdir(folder)):
        if _is_result(name):
            os.unlink(os.path.join(folder, name))
            count += name.endswith(SUFFIX)
    if _begins_with(os.path.join(folder, IGNORE_NAME), IGNORE, whole=True):
        os.unlink(os.path.join(folder, IGNORE_NAME))
    os.unlink(os.path.join(folder, TAG_NAME))
    with contextlib.suppress(OSError):
        os.rmdir(folder)
    return count


def _is_result(name: str) -> bool:
    return name.endswith(SUFFIX) or (name.startswith(".autodetach-") and name.endswith(".tmp"))


def _is_ours(name: str) -> bool:
    return name in (TAG_NAME, IGNORE_NAME) or _is_result(name)


def _begins_with(path: str, content: bytes, *, whole: bool = False) -> bool:
    """Whether a file begins with these bytes, or has no others. Raises OSError for one that cannot be read."""
    try:
        with open(path, "rb") as file:
            return file.read(len(content) + whole) == content
    except (FileNotFoundError, NotADirectoryError):
        return False


def _version() -> str:
    """Of this tool and of Python, in a few letters. While somebody works on the tool, its files change."""
    own = os.path.dirname(os.path.abspath(__file__))
    marks = []
    folders = [own]
    while folders:
        with os.scandir(folders.pop()) as scan:
            for entry in scan:
                if entry.name.endswith(".py"):
                    status = entry.stat()
                    marks.append((entry.path, status.st_size, status.st_mtime_ns))
                elif entry.name != "__pycache__" and entry.is_dir():
                    folders.append(entry.path)
    return digest(repr((__version__, sys.version_info[:3], sorted(marks))).encode())[:16]
