"""The files of a request, looked at: their findings, what is changed, and every problem on the way."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from autodetach.adoption.adopt import Adoption, add_ignores
from autodetach.beside import tasks_beside
from autodetach.checks import Change
from autodetach.commands.keeping import cache_folder
from autodetach.commands.request import CLEAN, FINDINGS, STDIN, TROUBLE, Request, UsageError, say_problems
from autodetach.comments.idle import Views, with_unused
from autodetach.console import ask, counted, printable, put, say
from autodetach.disk.files import NOTEBOOK_SUFFIX, SUFFIX, FoundFile, ReadError, find_files, read_stdin, relative
from autodetach.finding import Problem
from autodetach.gather import gather
from autodetach.output import Output
from autodetach.progress import tracked
from autodetach.report import WITH_ALTERNATIVES, WITH_STATISTICS, Located, OutputFormat, render
from autodetach.runner import MIN_FILES_FOR_CACHE, run_as_done
from autodetach.settings.config import posix
from autodetach.settle import settle
from autodetach.task import Outcome, Task

if TYPE_CHECKING:
    from autodetach.cache import Cache

class Run:
    """The tasks of a request, their outcomes, and every problem on the way; problems are said as they come."""

    def __init__(self, request: Request, *, fixing: bool) -> None:
        self.problems: list[Problem] = []
        self.said: list[Problem] = []
        self.stdin: bytes | None = None
        self.file_count = 0
        self.outcomes: tuple[Outcome, ...] = ()
        self.beside: tuple[Outcome, ...] = ()
        self.changes: tuple[Change, ...] = ()
        self._request = request
        self._fixing = fixing
        self._cwd = os.getcwd()
        self._configuration = request.configuration(self._cwd)
        self._adoption = Adoption(self._cwd, request.diff_base, uses_baseline=request.write_baseline is None)

    def go(self) -> None:
        """Do the work. Raises UsageError and ConfigError."""
        _refuse_what_does_not_go_together(self._request)
        tasks = self._tasks()
        self._spare_sources(tasks)
        self.file_count = len(tasks)
        jobs = self._request.jobs or _cpu_count()
        cache = self._cache(tasks)
        done = dict(tracked(run_as_done(tasks, jobs, cache), len(tasks)))
        outcomes = [done[number] for number in range(len(tasks))]
        beside = tasks_beside(tasks, outcomes)
        if beside:
            seen = dict(run_as_done(beside, jobs, cache))
            outcomes += (seen[number]._replace(problems=()) for number in range(len(beside)))
        settled = settle([*tasks, *beside], outcomes)
        self.beside = settled.outcomes[len(tasks) :]
        settled = settled._replace(outcomes=settled.outcomes[: len(tasks)])
        self._views = Views(settled.outcomes, self._configuration, self._cwd)
        settled = with_unused(tasks, settled, self._views)
        self.outcomes, self.changes = settled.outcomes, settled.changes
        self._report(problem for outcome in self.outcomes for problem in outcome.problems)

    def walk(self) -> None:
        """Do the work with a person, who is asked about every finding. Raises UsageError and ConfigError."""
        _refuse_what_does_not_go_together(self._request)
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise UsageError("--interactive asks questions, and this is no terminal; use `autodetach diff` and `fix`")
        from autodetach.interactive import Walk

        tasks = self._tasks()
        self.file_count = len(tasks)
        output = output_of(self._request)

        def tell(one: Located) -> str:
            return render(OutputFormat.TEXT, [one], colour=output.colour, width=output.width)

        settled = Walk(tasks, ask, put, tell).go()
        self.outcomes, self.changes = settled.outcomes, settled.changes
        self._report(problem for outcome in self.outcomes for problem in outcome.problems)

    @property
    def unchecked(self) -> int:
        """How many files were found and could not be checked, whatever may be in them."""
        return sum(any(not (p.partial or p.around) for p in outcome.problems) for outcome in self.outcomes)

    @property
    def applied(self) -> int:
        """How many findings were repaired, or would be."""
        return sum(len(outcome.applied) for outcome in (*self.outcomes, *self.beside))

    def findings(self) -> list[Located]:
        """What is left, each finding once, in the order of files and lines."""
        return gather([*self.outcomes, *self.beside], self._configuration)

    def write(self) -> None:
        """Write what is changed. The outcomes that rest on a file which cannot be written are forgotten."""
        from autodetach.changes import write

        problems = write(self.changes, (*self.outcomes, *self.beside))
        self._report(problems)
        left = {problem.path for problem in problems}
        failed = {change.path for change in self.changes if change.original.path in left}
        if failed:
            self.outcomes = tuple(
                Outcome(o.file, problems=o.problems) if failed & {o.file.path, *o.imported} else o
                for o in self.outcomes
            )

    def add_ignores(self, findings: Sequence[Located]) -> list[Located]:
        """Write comments for the findings, and say so; those are returned that are left."""
        asked = {outcome.file.path for outcome in self.outcomes}
        ignored = add_ignores(findings, self._request.reason or "", lambda path: path in asked)
        self._report(ignored.problems)
        if not self._request.quiet and ignored.findings:
            comments = counted(len(ignored.findings), "finding")
            say(f"Wrote comments for {comments} in {counted(ignored.files, 'file')}.")
        return [one for one in findings if one not in ignored.findings]

    def say_known(self) -> None:
        """Say what baselines have kept back, and what they record in vain."""
        for line in self._adoption.known(self.outcomes):
            say(f"Not shown: {printable(line)}.")
        for line in self._adoption.stale(self.outcomes, self._is_judged):
            say(f"warning: {printable(line)}")

    def _is_judged(self, path: str, code: str) -> bool:
        codes = self._configuration.settings_for(os.path.dirname(path)).options_for(posix(path)).codes
        return (codes is None or code in codes) and self._views.are_whole(path)

    def exit_code(self, *, found: bool) -> int:
        """TROUBLE before FINDINGS before CLEAN."""
        return TROUBLE if self.problems else FINDINGS if found and not self._request.exit_zero else CLEAN

    def _cache(self, tasks: Sequence[Task]) -> Cache | None:
        """What earlier runs know; None where it is not wanted, or takes longer than to look. Raises ConfigError."""
        if self._fixing or self._request.no_cache or self.stdin is not None or len(tasks) < MIN_FILES_FOR_CACHE:
            return None
        from autodetach.cache import Cache
        from autodetach.projects.imports import project_root

        folder = cache_folder(self._request, self._configuration, self._cwd)
        return None if folder is None else Cache(folder, project_root(self._cwd))

    def _tasks(self) -> list[Task]:
        request = self._request
        if request.reads_stdin:
            return self._task_of_stdin()
        paths = request.paths or (".",)
        found = find_files(paths, self._configuration, self._cwd)
        self._report(found.problems)
        roots = tuple(os.path.abspath(os.path.join(self._cwd, path)) for path in paths)
        files = [file for file in found.files if not (request.force_exclude and self._is_excluded(file.path))]
        self._adoption.looks_at(file.path for file in files)
        return [self._task(file, roots) for file in files]

    def _is_excluded(self, path: str) -> bool:
        """Whether a walk would have left out a file, or a folder above it within the current one."""
        settings = self._configuration.settings_for(os.path.dirname(path))
        while path not in (self._cwd, os.path.dirname(path)):
            if settings.excludes(posix(path)):
                return True
            path = os.path.dirname(path)
        return False

    def _spare_sources(self, tasks: Iterable[Task]) -> None:
        """Raise UsageError if the results would take the place of a source."""
        file = self._request.output_file
        if file is None:
            return
        sources = {os.path.realpath(task.file.path) for task in tasks}
        if file.endswith((SUFFIX, NOTEBOOK_SUFFIX)) or os.path.realpath(file) in sources:
            raise UsageError(f"--output-file {file}: findings or patches go there, and this is a source")

    def _task_of_stdin(self) -> list[Task]:
        name = self._request.stdin_filename
        path = os.path.abspath(os.path.join(self._cwd, name or STDIN))
        file = FoundFile(path, relative(path, self._cwd))
        try:
            self.stdin = read_stdin(path)
        except ReadError as error:
            self._report([Problem(file.shown, str(error), error.line)])
            return []
        return [self._task(file, ())._replace(raw=self.stdin)]

    def _task(self, file: FoundFile, roots: tuple[str, ...]) -> Task:
        settings = self._configuration.settings_for(os.path.dirname(file.path))
        unsafe = settings.unsafe_fixes if self._fixing else None
        wanted = self._request.output_format in WITH_ALTERNATIVES and not self._request.statistics
        options = settings.options_for(posix(file.path))._replace(alternatives=wanted and not self._fixing)
        return Task(file, options, unsafe, roots=roots, cwd=self._cwd, wanted=self._adoption.filter_for(settings))

    def _report(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self.said.append(problem)
            if not problem.partial:
                self.problems.append(problem)
            say_problems([problem])


def _refuse_what_does_not_go_together(request: Request) -> None:
    """Raises UsageError."""
    if request.reason is not None and not request.add_ignore:
        raise UsageError("--reason goes into the comments of --add-ignore; give both")
    on_disk = {
        "--write-baseline": request.write_baseline is not None,
        "--add-ignore": request.add_ignore,
        "--diff-base": request.diff_base is not None,
    }
    given = [option for option, is_given in on_disk.items() if is_given]
    if request.interactive and request.reads_stdin:
        raise UsageError("--interactive reads answers from standard input; give files instead")
    printed = {
        "--output-file": request.output_file is not None,
        "--output-format": request.output_format is not OutputFormat.TEXT,
        "--statistics": request.statistics,
    }
    printing = next((option for option, is_given in printed.items() if is_given), None)
    if printing is not None and request.interactive:
        raise UsageError(f"--interactive shows findings one by one and prints no list; give it without {printing}")
    if printing is not None and request.write_baseline is not None:
        raise UsageError(f"--write-baseline records findings and prints none; give it without {printing}")
    if given and request.reads_stdin:
        raise UsageError(f"{given[0]} is about files, not about standard input")
    if request.write_baseline is not None and len(given) > 1:
        raise UsageError(f"{given[0]} records all findings; give it without {given[1]}")


def output_of(request: Request, *, aside: bool = False) -> Output:
    """Where the findings or the patch go. Raises UsageError and OutputError."""
    if request.statistics and request.output_format not in WITH_STATISTICS:
        known = ", ".join(one.value for one in WITH_STATISTICS)
        raise UsageError(f"--statistics can be printed as {known}, not as {request.output_format.value}")
    output = Output(request.output_file, aside)
    output.check()
    return output


def _cpu_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
