"""What the processes of the server are asked to do."""

from __future__ import annotations

from collections.abc import Callable

from autodetach.beside import with_beside
from autodetach.checks import Change, CheckResult
from autodetach.comments.idle import Views, with_unused
from autodetach.lsp.workers import afterwards, pause, tell
from autodetach.perform import run_one
from autodetach.projects.imports import forget
from autodetach.remembered import remember, tidy
from autodetach.settings.config import Configuration, Overrides
from autodetach.settle import Settled, settle
from autodetach.task import Outcome, Task


def look(task: Task, early: bool = False) -> Outcome:
    """Do a task on the files as they are now, as the command line does if it is given that file. Raises ConfigError.

    With `early`, what the default path of the program shows is told while the others are run.
    """

    def told(result: CheckResult) -> None:
        tell(_outcome(task, result))

    _begin(told if early else None)
    return _without_idle_comments(task, settle([task], [run_one(task)])).outcomes[0]


def repair(task: Task) -> Outcome:
    """As `look`, with repairs that are right for programs beside that import the file, too."""
    _begin()
    return _without_idle_comments(task, with_beside(task)).outcomes[0]


def fix(task: Task) -> Change | None:
    """What `autodetach fix` makes of a file that it is given, None if nothing."""
    _begin()
    changes = _without_idle_comments(task, with_beside(task)).changes
    return next((change for change in changes if change.path == task.file.path), None)


def _begin(told: Callable[[CheckResult], None] | None = None) -> None:
    forget()
    remember(pause, told)
    afterwards(tidy)


def _without_idle_comments(task: Task, settled: Settled) -> Settled:
    return with_unused([task], settled, Views(settled.outcomes, Configuration(task.cwd, Overrides()), task.cwd))


def _outcome(task: Task, result: CheckResult) -> Outcome:
    path = task.file.path
    return Outcome(
        task.file,
        result.findings,
        result.problems,
        task.changed.get(path),
        sources=result.sources,
        imported=tuple(at for at in result.sources if at != path),
        about=result.about,
    )
