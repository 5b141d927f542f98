"""What the processes of the server are asked to do."""

from __future__ import annotations

from autodetach.checker import CheckResult, remember, tidy
from autodetach.comments.idle import Views, with_unused
from autodetach.lsp.workers import afterwards, pause, tell
from autodetach.projects.imports import forget
from autodetach.runner import Outcome, Task, run_one
from autodetach.settings.config import Configuration, Overrides
from autodetach.settle import settle


def look(task: Task, early: bool = False) -> Outcome:
    """Do a task on the files as they are now, as the command line does if it is given that file. Raises ConfigError.

    With `early`, what the default path of the program shows is told while the others are run.
    """
    forget()

    def told(result: CheckResult) -> None:
        tell(_outcome(task, result))

    remember(pause, told if early else None)
    afterwards(tidy)
    settled = settle([task], [run_one(task)])
    views = Views(settled.outcomes, Configuration(task.cwd, Overrides()), task.cwd)
    return with_unused([task], settled, views).outcomes[0]


def _outcome(task: Task, result: CheckResult) -> Outcome:
    path = task.file.path
    return Outcome(
        task.file,
        result.findings,
        result.problems,
        task.changed.get(path),
        sources=result.sources,
        imported=tuple(at for at in result.sources if at != path),
    )
