"""What the processes of the server are asked to do. Everything that takes long to load is loaded with this module."""

from __future__ import annotations

import autodetach.codemods.tree
import autodetach.machine.run
import autodetach.rules  # noqa: F401
from autodetach.imports import holds_python
from autodetach.runner import Outcome, Task, run_one


def look(task: Task) -> Outcome:
    """Do a task on the files as they are now."""
    holds_python.cache_clear()
    return run_one(task)


def ready() -> bool:
    """Whether a process is there."""
    return True
