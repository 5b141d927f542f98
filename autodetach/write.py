"""Replacing the bytes of a file so that a crash, or somebody else's edit in between, loses nothing."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile


class WriteError(Exception):
    """The file was left as it was; the text says why, in one clause."""


def replace_bytes(path: str, analysed: bytes, new: bytes) -> None:
    """Make `new` the content of the file at `path`, atomically, if its content still is `analysed`.

    Mode bits stay; of a symbolic link the target is replaced and the link stays. Raises WriteError, and only that, when
    the file changed since it was read, is no ordinary file, or cannot be written.
    """
    try:
        target = os.path.realpath(path, strict=True)
        status = os.stat(target)
        if not stat.S_ISREG(status.st_mode):
            raise WriteError("not an ordinary file, so it cannot be fixed in place")
        if not os.access(target, os.W_OK):
            raise WriteError("no permission to write")
        _replace(target, status, analysed, new)
    except OSError as error:
        raise WriteError(f"cannot write: {error.strerror or error}") from error


def _replace(target: str, status: os.stat_result, analysed: bytes, new: bytes) -> None:
    folder = os.path.dirname(target)
    handle, temporary = tempfile.mkstemp(prefix=".autodetach-", suffix=".tmp", dir=folder)
    try:
        with open(handle, "wb") as file:
            file.write(new)
            file.flush()
            os.fsync(file.fileno())
        # The owner first: changing it clears the set-user-id bits.
        if hasattr(os, "chown") and (status.st_uid, status.st_gid) != (os.geteuid(), os.getegid()):
            with contextlib.suppress(PermissionError):
                os.chown(temporary, status.st_uid, status.st_gid)
        shutil.copymode(target, temporary)
        # As late as can be, so that little time is left for another editor to write.
        with open(target, "rb") as file:
            unchanged = file.read() == analysed
        if not unchanged:
            raise WriteError("changed on disk since it was read, so it was left alone; run again")
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise
    _sync_folder(folder)


def _sync_folder(folder: str) -> None:
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
