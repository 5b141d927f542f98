"""What the processes of the server are asked to do."""

from __future__ import annotations

from autodetach.imports import holds_python
from autodetach.runner import Outcome, Task, run_one


def look(task: Task) -> Outcome:
    """Do a task on the files as they are now."""
    holds_python.cache_clear()
    return run_one(task)
