"""Writing the bytes of files so that a crash, or somebody else's edit in between, loses nothing."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from autodetach.disk.reasons import reason_of
from autodetach.disk.temporary import NotKept, Temporary, locked, sweep, sync, temporary

CHANGED = "changed on disk since it was read, so it was left alone; run again"


class WriteError(Exception):
    """The file at `path` was left as it was; the text says why, in one clause.

    `replaced` are the paths of those that were to be replaced with it, and could not be given their old content back.
    """

    def __init__(self, reason: str, path: str = "", replaced: tuple[str, ...] = ()) -> None:
        super().__init__(reason)
        self.path = path
        self.replaced = replaced


@dataclass(frozen=True, slots=True)
class Replacement:
    """A file, by its path, and what is to become of its content."""

    path: str
    analysed: bytes
    new: bytes


def replace_bytes(path: str, analysed: bytes, new: bytes) -> None:
    """Make `new` the content of the file at `path`, atomically, if its content still is `analysed` (or is `new`).

    Its owner, mode bits and, on Linux, extended attributes stay; of a symbolic link the target is replaced and the link
    stays. Raises WriteError, and only that, when the file changed since it was read, is no ordinary file, has several
    names (hard links: a new file would have one of them only), or cannot be written.
    """
    replace_together([Replacement(path, analysed, new)])


def replace_together(replacements: Sequence[Replacement]) -> None:
    """Do with several files what `replace_bytes` does with one: with all of them, or with none.

    All that can be found to stand in the way is found before the first file is replaced; if one cannot be replaced even
    so, those before it get their old content back. Killed in between, some are replaced, each of them whole. Raises
    WriteError for the file that stands in the way.
    """
    done: list[Replacement] = []
    with contextlib.ExitStack() as stack:
        try:
            prepared = [(one, stack.enter_context(_prepared(one))) for one in replacements]
            for one, place in prepared:
                with _errors_of(one.path):
                    place.take(done)
        except BaseException as error:
            replaced = _take_back(done)
            if isinstance(error, WriteError):
                error.replaced = replaced
            raise


def write_result(path: str, result: bytes) -> None:
    """Make `result` the content of the file at `path`, atomically, whether there is one or not.

    Of a symbolic link the target is written; what is no ordinary file (a pipe, /dev/stdout) is written into. Raises
    WriteError, and only that.
    """
    with _errors_of(path):
        target = os.path.realpath(path)
        folder = os.path.dirname(target)
        old = _status(target)
        if old is not None and not stat.S_ISREG(old.st_mode):
            with open(target, "wb") as file:
                file.write(result)
            return
        fault = _fault(target, old)
        if fault is not None:
            raise WriteError(fault, path)
        sweep(folder)
        with temporary(folder, result, like=None if old is None else target) as new:
            new.take_place_of(target)
        sync(folder)


def obstacle(path: str) -> str | None:
    """What will keep `write_result` from writing to `path`, as far as that can be told beforehand, in one clause."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if not os.path.isdir(folder):
        shown = os.path.dirname(path) or folder
        return f"{shown} is no folder" if os.path.exists(folder) else f"there is no folder {shown}"
    if os.path.isdir(target) or path.endswith(os.sep):
        return "this is a folder"
    if not os.access(target if os.path.exists(target) and not os.path.isfile(target) else folder, os.W_OK):
        return "no permission to write there"
    return _fault(target, os.stat(target) if os.path.isfile(target) else None)


@dataclass(frozen=True, slots=True)
class _Place:
    """A file that is to be replaced, and the one that is ready to take its place."""

    target: str
    one: Replacement
    ready: Temporary

    def take(self, done: list[Replacement]) -> None:
        """Replace the file and note it in `done`, unless it already has that content. Raises WriteError and OSError."""
        # The content is compared as late as can be, so that little time is left for another program to write.
        with locked(self.target) as file:
            if file is None:
                raise WriteError("another program has locked it; run again")
            content = file.read()
            if not os.path.samestat(os.fstat(file.fileno()), os.stat(self.target)):
                raise WriteError(CHANGED)
            if content == self.one.new:
                return
            if content != self.one.analysed:
                raise WriteError(CHANGED)
            if os.name == "nt":
                # Open files cannot be replaced there.
                file.close()
            self.ready.take_place_of(self.target)
            done.append(self.one)
        sync(os.path.dirname(self.target))


@contextlib.contextmanager
def _prepared(one: Replacement) -> Iterator[_Place]:
    """Write the new file beside the old one. Raises WriteError."""
    with contextlib.ExitStack() as stack:
        with _errors_of(one.path):
            target = os.path.realpath(one.path, strict=True)
            status = os.stat(target)
            if not stat.S_ISREG(status.st_mode):
                raise WriteError("not an ordinary file, so it cannot be fixed in place")
            if not os.access(target, os.W_OK):
                raise WriteError("no permission to write")
            fault = _fault(target, status)
            if fault is not None:
                raise WriteError(fault)
            with open(target, "rb") as file:
                if file.read() not in (one.analysed, one.new):
                    raise WriteError(CHANGED)
            folder = os.path.dirname(target)
            sweep(folder)
            place = _Place(target, one, stack.enter_context(temporary(folder, one.new, like=target)))
        yield place


def _take_back(done: Sequence[Replacement]) -> tuple[str, ...]:
    """Give files their old content back; the paths of those that keep the new one, whole."""
    left: list[str] = []
    for one in done:
        try:
            replace_together([Replacement(one.path, one.new, one.analysed)])
        except WriteError:
            left.append(one.path)
    return tuple(left)


def _status(target: str) -> os.stat_result | None:
    """None for a file that is not there, or a link that leads nowhere. Raises OSError."""
    try:
        return os.stat(target)
    except FileNotFoundError:
        return None
    except OSError as error:
        if error.errno == errno.ELOOP:
            return None
        raise


def _fault(target: str, status: os.stat_result | None) -> str | None:
    """Why the file at a path without links must not be replaced, in one clause; `status` is None if there is none."""
    if status is None:
        return "the symbolic links lead round in a circle" if os.path.islink(target) else None
    if status.st_nlink > 1:
        return (
            f"it has {status.st_nlink} names (hard links), and a new file would have this one only; if that is right, "
            "make it a file of its own first (`cp -p a.py b && mv b a.py`)"
        )
    return None


@contextlib.contextmanager
def _errors_of(path: str) -> Iterator[None]:
    try:
        yield
    except WriteError as error:
        raise WriteError(str(error), error.path or path) from error.__cause__
    except NotKept as error:
        raise WriteError(str(error), path) from error
    except OSError as error:
        raise WriteError(f"cannot write: {reason_of(error)}", path) from error
