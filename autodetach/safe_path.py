"""Processes of our own that import nothing from the current folder, where anybody's code may lie.

Python starts those of `multiprocessing`, unless they are forks, as `python -c`, which looks there first: a `socket.py`
of the project that is looked at would be run.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
from collections.abc import Iterator


@contextlib.contextmanager
def safe_path(method: str | None = None) -> Iterator[None]:
    """Start processes in here; `method` is how, as `multiprocessing` calls it, None for its default."""
    if (method or multiprocessing.get_start_method()) == "fork":
        yield
        return
    before = os.environ.get("PYTHONSAFEPATH")
    cwd = os.getcwd()
    os.environ["PYTHONSAFEPATH"] = "1"
    try:
        # Python 3.10 does not know that variable; such a process goes back to the old folder when it has started.
        if sys.version_info < (3, 11):
            os.chdir(os.path.dirname(os.__file__))
        yield
    finally:
        os.chdir(cwd)
        if before is None:
            del os.environ["PYTHONSAFEPATH"]
        else:
            os.environ["PYTHONSAFEPATH"] = before
