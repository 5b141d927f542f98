"""The programs beside what a run was asked for: what they do with its files says what may be said of these.

Whoever checks one file of a project, as `pre-commit` does, is to read of it what the check of the whole project tells:
that its sums are differentiated elsewhere, or that its lists are taken for tensors there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from autodetach.checks import Change, Choice, Wanted
from autodetach.disk.files import FoundFile, relative
from autodetach.finding import Finding, edits_by_file
from autodetach.named_tuples import NamedTuple
from autodetach.perform import run_one
from autodetach.projects.importers import importers
from autodetach.remembered import unremembered
from autodetach.settle import Settled, as_others_leave_it, settle, sifted
from autodetach.source import Source
from autodetach.task import Outcome, Task


class _InAsked(NamedTuple):
    """What is `wanted` of a program, see `checker.Wanted`, and stands in files that were asked for."""

    wanted: Wanted | None
    asked: frozenset[str]

    def sift(self, findings: Sequence[Finding], sources: Mapping[str, Source], root: str) -> Choice:
        places, known = sifted(self.wanted, findings, sources, root)
        return tuple(n for n in places if findings[n].path in self.asked), known

    def after(self, changes: Iterable[Change]) -> Wanted:
        return self._replace(wanted=None if self.wanted is None else self.wanted.after(changes))


def tasks_beside(tasks: Sequence[Task], outcomes: Sequence[Outcome]) -> list[Task]:
    """The tasks of programs that import files in which something was found, or is repaired.

    They were not asked for, or not run. What they find in files that were asked for is theirs to tell, and to repair,
    and nothing else.
    """
    told = {
        path or o.file.path
        for o in outcomes
        for finding in (*o.findings, *o.applied)
        for path in (finding.path, *(at for at, _ in edits_by_file(finding)))
    }
    if not told:
        return []
    asked = frozenset(task.file.path for task in tasks)
    run = {outcome.file.path for outcome in outcomes if outcome.imported or outcome.findings or outcome.problems}
    first = tasks[0]
    changed = {
        task.file.path: source
        for task, outcome in zip(tasks, outcomes, strict=True)
        if task.raw is not None and (source := outcome.original or outcome.source) is not None
    } | {path: source for task in tasks for path, source in task.changed.items()}
    return [
        first._replace(
            file=FoundFile(path, relative(path, first.cwd)),
            options=first.options._replace(whole=True),
            raw=None,
            changed=changed,
            roots=first.roots or (first.file.path,),
            wanted=_InAsked(first.wanted, asked),
            is_beside=True,
        )
        for path in importers(told, run, first.cwd, changed)
    ]


def with_beside(task: Task) -> Settled:
    """The outcome of one task, and what becomes of its file, in view of the programs beside that import it."""
    outcomes = [run_one(task)]
    beside = tasks_beside([task], outcomes)
    if not beside:
        return settle([task], outcomes)
    with unremembered():  # who remembers does not note what a program uses
        tasks = [task, *beside]
        settled = settle(tasks, [run_one(one) for one in tasks])
    return settled._replace(outcomes=(as_others_leave_it(settled.outcomes)._replace(uses={}),))
