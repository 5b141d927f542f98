"""Temporary files that take the place of others, and what is left of those whose program was killed.

Each is locked for as long as its program lives. So one that is not locked belongs to nobody, and is removed.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import stat
import sys
import time
from collections.abc import Iterable, Iterator
from typing import BinaryIO

if sys.platform != "win32":
    import fcntl

# No suffix of a source, so that no walk takes it; and of a fixed length, however long the name of the file is.
_NAME = re.compile(r"\.autodetach-[0-9a-f]{16}\.tmp")
_ATTEMPTS = 40
_PAUSE = 0.05
"""Seconds between two attempts to get a lock."""

_OWN = 0o600
_COMMON = 0o666


class NotKept(Exception):
    """What a file has beside its content, and the one in its place could not have; the text is one clause."""


@contextlib.contextmanager
def locked(path: str) -> Iterator[BinaryIO | None]:
    """Open the file at `path` for reading, such that no other process is in here with it.

    None if another program holds its lock for longer than two seconds. Where there are no locks (Windows, some network
    file systems), it is only opened. Raises OSError.
    """
    with open(path, "rb") as file:
        for attempt in range(_ATTEMPTS):
            if _lock(file.fileno()) is not False:
                yield file
                return
            if attempt + 1 < _ATTEMPTS:
                time.sleep(_PAUSE)
        yield None


@contextlib.contextmanager
def temporary(folder: str, content: bytes, *, like: str | None) -> Iterator[Temporary]:
    """A file in `folder` with this content, on disk for good; it is gone at the end unless it was moved.

    It has the owner, mode bits and extended attributes (access lists among them) of the file `like`; for None it is as
    any new file. Raises OSError and NotKept.
    """
    path, handle = _created(folder, _COMMON if like is None else _OWN)
    file = open(handle, "wb")  # noqa: SIM115
    try:
        file.write(content)
        file.flush()
        if like is not None:
            _dress(path, like)
        os.fsync(file.fileno())
        yield Temporary(path, file)
    finally:
        with contextlib.suppress(OSError):
            os.unlink(path)
        with contextlib.suppress(OSError):
            file.close()


class Temporary:
    """A file that is ready to take the place of another."""

    def __init__(self, path: str, file: BinaryIO) -> None:
        self._path = path
        self._file = file

    def take_place_of(self, target: str) -> None:
        """Become the file at `target`, at once and whole. Raises OSError."""
        if sys.platform == "win32":
            # Open files cannot be moved there.
            self._file.close()
        os.replace(self._path, target)
        # The lock now is that of the file.
        with contextlib.suppress(OSError):
            self._file.close()


def sweep(folder: str) -> None:
    """Remove the temporary files in a folder whose programs have ended, as far as they are ours to remove."""
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if _NAME.fullmatch(name):
                with contextlib.suppress(OSError):
                    _remove_if_left(os.path.join(folder, name))


def sync(folder: str) -> None:
    """Bring the names in a folder to the disk, where that can be asked for."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _created(folder: str, mode: int) -> tuple[str, int]:
    while True:
        path = os.path.join(folder, f".autodetach-{os.urandom(8).hex()}.tmp")
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        # Between these lines another process may take it for one that was left.
        if _lock(handle) is not False and os.fstat(handle).st_nlink:
            return path, handle
        os.close(handle)
        with contextlib.suppress(OSError):
            os.unlink(path)


def _remove_if_left(path: str) -> None:
    if sys.platform == "win32":
        # What a program has open cannot be removed there.
        os.unlink(path)
        return
    handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        status = os.fstat(handle)
        if stat.S_ISREG(status.st_mode) and status.st_uid == os.geteuid() and _lock(handle):
            os.unlink(path)
    finally:
        os.close(handle)


def _lock(handle: int) -> bool | None:
    """Whether the lock of an open file is ours now; None where there are no locks."""
    if sys.platform == "win32":
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return None
    return True


def _dress(path: str, like: str) -> None:
    """Give the file at `path` what the file `like` has beside its content."""
    wanted, given = os.stat(like), os.stat(path)
    # The owner first: changing it clears the set-user-id bits.
    if sys.platform != "win32" and (wanted.st_uid, wanted.st_gid) != (given.st_uid, given.st_gid):
        try:
            os.chown(path, wanted.st_uid, wanted.st_gid)
        except OSError:
            raise NotKept("it belongs to a user or a group that you cannot give files to") from None
    if sys.platform == "linux":
        _copy_attributes(path, like)
    if stat.S_IMODE(os.stat(path).st_mode) != stat.S_IMODE(wanted.st_mode):
        os.chmod(path, stat.S_IMODE(wanted.st_mode))


if sys.platform == "linux":

    def _copy_attributes(path: str, like: str) -> None:
        wanted, given = _attributes(like), _attributes(path)
        # A folder may have given an access list that the file does not have.
        for name in (given.keys() | wanted.keys()) - _of_the_system(given.keys() | wanted.keys()):
            try:
                if name not in wanted:
                    os.removexattr(path, name)
                elif given.get(name) != wanted[name]:
                    os.setxattr(path, name, wanted[name])
            except OSError:
                raise NotKept(f"its extended attribute {name} could not be kept") from None

    def _attributes(path: str) -> dict[str, bytes]:
        try:
            return {name: os.getxattr(path, name) for name in os.listxattr(path)}
        except OSError as error:
            if error.errno in (errno.ENOTSUP, errno.EINVAL, errno.ENOSYS):
                return {}
            raise

    def _of_the_system(names: Iterable[str]) -> set[str]:
        """Labels that the system gives each file by its place and its program, and signatures of the old content."""
        return {name for name in names if name.startswith(("security.", "trusted."))}
