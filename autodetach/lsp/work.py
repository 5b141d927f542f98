"""What the processes of the server are asked to do."""

from __future__ import annotations

from autodetach.checker import remember
from autodetach.comments import Views, with_unused
from autodetach.config import Configuration, Overrides
from autodetach.imports import forget
from autodetach.runner import Outcome, Task, run_one
from autodetach.settle import settle


def look(task: Task) -> Outcome:
    """Do a task on the files as they are now, as the command line does if it is given that file. Raises ConfigError."""
    forget()
    remember()
    settled = settle([task], [run_one(task)])
    views = Views(settled.outcomes, Configuration(task.cwd, Overrides()), task.cwd)
    return with_unused([task], settled, views).outcomes[0]
