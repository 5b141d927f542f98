"""Why the system did not do what it was asked to, in words that are the same wherever it is told."""

from __future__ import annotations

import errno
import os


def reason_of(error: OSError | ValueError) -> str:
    """Why, in one clause that names no file."""
    if isinstance(error, FileNotFoundError):
        return "no such file or folder"
    if isinstance(error, PermissionError):
        return "permission denied"
    if isinstance(error, OSError) and error.errno == errno.ELOOP:
        return "the symbolic links lead round in a circle"
    return ((error.strerror if isinstance(error, OSError) else None) or str(error)).lower()


def told(error: OSError) -> str:
    """Why, with the file that it is about, if the error names one."""
    if isinstance(error.filename, (str, bytes)) and error.filename:
        return f"{os.fsdecode(error.filename)}: {reason_of(error)}"
    return "the current folder is gone" if _is_current_folder_gone(error) else reason_of(error)


def _is_current_folder_gone(error: OSError) -> bool:
    if not isinstance(error, FileNotFoundError):
        return False
    try:
        os.getcwd()
    except FileNotFoundError:
        return True
    return False
