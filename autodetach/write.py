"""Writing the bytes of a file so that a crash, or somebody else's edit in between, loses nothing."""

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


def write_result(path: str, result: bytes) -> None:
    """Make `result` the content of the file at `path`, atomically, whether there is one or not.

    Of a symbolic link the target is written; what is no ordinary file (a pipe, /dev/stdout) is written into. Raises
    WriteError, and only that.
    """
    try:
        target = os.path.realpath(path)
        if os.path.exists(target) and not os.path.isfile(target):
            with open(target, "wb") as file:
                file.write(result)
        else:
            _put_in_place(target, result)
    except OSError as error:
        raise WriteError(f"cannot write: {(error.strerror or str(error)).lower()}") from error


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
    return None


def _put_in_place(target: str, result: bytes) -> None:
    temporary = os.path.join(os.path.dirname(target), f".autodetach-{os.getpid()}-{os.urandom(4).hex()}.tmp")
    # Not by `tempfile`, whose files only their owner may read: a report is as readable as any new file.
    handle = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with open(handle, "wb") as file:
            file.write(result)
            file.flush()
            os.fsync(file.fileno())
        if os.path.exists(target):
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


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
