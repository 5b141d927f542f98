"""What the commands do: which files, what is printed where, and the exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from autodetach.adoption.adopt import Adoption, add_ignores, write_baseline
from autodetach.changes import has_cells, patch_of, write
from autodetach.checker import Change
from autodetach.comments.idle import Views, with_unused
from autodetach.console import ask, counted, printable, put, put_bytes, say
from autodetach.disk.files import (
    NOTEBOOK_SUFFIX,
    SUFFIX,
    FoundFile,
    ReadError,
    below,
    find_files,
    read_stdin,
    relative,
)
from autodetach.finding import Finding, Problem
from autodetach.gather import gather
from autodetach.output import Output, OutputError
from autodetach.progress import tracked
from autodetach.report import WITH_ALTERNATIVES, WITH_STATISTICS, Located, OutputFormat, render, render_statistics
from autodetach.runner import MIN_FILES_FOR_CACHE, Outcome, Task, internal_error, run_as_done
from autodetach.settings.config import ConfigError, Configuration, Overrides, posix
from autodetach.settle import settle

if TYPE_CHECKING:
    from autodetach.cache import Cache
    from autodetach.tracebacks.explain import Explanation

CLEAN = 0
FINDINGS = 1
TROUBLE = 2
INTERRUPTED = 130

STDIN = "-"

MAX_LOG_BYTES = 256 * 1024 * 1024
NOTE_ON_CELLS = "note: patches of cells are for reading, and no program can apply them: `autodetach fix` does"


class UsageError(Exception):
    """Arguments that do not go together; the text says how to call instead, in one line."""


@dataclass(frozen=True, slots=True)
class Request:
    """The arguments of check, diff and fix, as typed."""

    paths: tuple[str, ...] = ()
    overrides: Overrides = field(default_factory=Overrides)
    output_format: OutputFormat = OutputFormat.TEXT
    stdin_filename: str | None = None
    config: str | None = None
    isolated: bool = False
    jobs: int | None = None
    quiet: bool = False
    output_file: str | None = None
    statistics: bool = False
    exit_zero: bool = False
    exit_non_zero_on_fix: bool = False
    force_exclude: bool = False
    diff_base: str | None = None
    write_baseline: str | None = None
    add_ignore: bool = False
    reason: str | None = None
    interactive: bool = False
    no_cache: bool = False
    cache_dir: str | None = None

    @property
    def reads_stdin(self) -> bool:
        """Whether the one file to look at comes from standard input. Raises UsageError."""
        if STDIN in self.paths and len(self.paths) > 1:
            raise UsageError("`-` reads standard input and cannot be mixed with other paths")
        if self.stdin_filename is not None and self.paths not in ((), (STDIN,)):
            raise UsageError("--stdin-filename names what comes from standard input; give no other path than `-`")
        return self.paths == (STDIN,) or self.stdin_filename is not None

    def configuration(self, cwd: str) -> Configuration:
        """The settings, as they are seen from a folder. Raises UsageError and ConfigError."""
        if self.isolated and self.config is not None:
            raise UsageError("--isolated uses no configuration file, and --config names one; give one of them")
        return Configuration(cwd, self.overrides, self.config, isolated=self.isolated)


def check(request: Request) -> int:
    """Print the findings. The exit code is CLEAN, FINDINGS, or TROUBLE if a file could not be done."""
    output = _output(request)
    this_run = _Run(request, fixing=False)
    this_run.go()
    findings = this_run.findings()
    if request.write_baseline is not None:
        say(printable(write_baseline(request.write_baseline, os.getcwd(), findings)))
        return this_run.exit_code(found=False)
    if request.add_ignore:
        findings = this_run.add_ignores(findings)
    output.write(_rendered(request, this_run, findings, output))
    if not request.quiet:
        this_run.say_known()
        _say_found(this_run, findings)
    return this_run.exit_code(found=bool(findings))


def diff(request: Request) -> int:
    """Print a patch with the fixes, and why on standard error. The exit code is that of `check`."""
    output = _output(request)
    this_run = _Run(request, fixing=True)
    this_run.go()
    if this_run.changes or output.file is not None:
        output.write_bytes(patch_of(this_run.changes))
    findings = this_run.findings()
    if not request.quiet:
        for outcome in this_run.outcomes:
            for finding in outcome.applied:
                say(_reason(finding, outcome))
        if has_cells(this_run.changes):
            say(NOTE_ON_CELLS)
        _say_fixed(this_run, findings, "would fix")
    return this_run.exit_code(found=bool(findings or this_run.applied))


def fix(request: Request) -> int:
    """Apply the fixes, in place or from standard input to standard output, and print the findings that are left."""
    if request.interactive:
        return _fix_by_hand(request)
    # Standard output is taken by the source where it comes from standard input.
    output = _output(request, aside=request.reads_stdin)
    this_run = _Run(request, fixing=True)
    this_run.go()
    if this_run.stdin is not None:
        # Also when nothing could be fixed: whoever pipes the source through must get it back.
        put_bytes(this_run.changes[0].stored if this_run.changes else this_run.stdin)
    else:
        this_run.write()
    findings = this_run.findings()
    output.write(_rendered(request, this_run, findings, output))
    if not request.quiet:
        _say_fixed(this_run, findings, "fixed")
    return this_run.exit_code(found=bool(findings or (request.exit_non_zero_on_fix and this_run.applied)))


def _fix_by_hand(request: Request) -> int:
    """Apply the fixes that a person at the terminal says yes to."""
    this_run = _Run(request, fixing=True)
    this_run.walk()
    this_run.write()
    findings = this_run.findings()
    _say_fixed(this_run, findings, "fixed")
    return this_run.exit_code(found=bool(findings or (request.exit_non_zero_on_fix and this_run.applied)))


def rule(text: str | None) -> int:
    """Print the page of one rule, or a table of all."""
    from autodetach.settings.selection import RULES, UnknownRule, find_rule

    if text is not None:
        try:
            put(find_rule(text).page.rstrip() + "\n")
        except UnknownRule as error:
            say(f"error: {printable(str(error))}")
            return TROUBLE
        return CLEAN
    # The page has the whole paragraph on the safety of the fix; a table has room for its first sentence.
    known = ((r.code, r.name, r.summary, r.fix_safety.partition(". ")[0].removesuffix(".")) for r in RULES)
    rows = [("code", "name", "what it finds", "fix"), *known]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    for row in rows:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        put("  ".join((*cells, row[3])) + "\n")
    return CLEAN


def server(tcp: str | None, port: int | None) -> int:
    """Serve an editor until it leaves."""
    from autodetach.lsp.launch import LaunchError, address, serve

    try:
        serve(address(tcp, port))
    except LaunchError as error:
        raise UsageError(str(error)) from None
    return CLEAN


def config(path: str | None, request: Request) -> int:
    """Print the settings that hold for a file or a folder, and where each comes from."""
    from autodetach.settings.selection import RULES
    from autodetach.settings.show import as_json, as_text

    if request.output_format not in (OutputFormat.TEXT, OutputFormat.JSON):
        raise UsageError(f"settings can be printed as text or json, not as {request.output_format.value}")
    cwd = os.getcwd()
    place = os.path.abspath(os.path.join(cwd, path or "."))
    is_folder = os.path.isdir(place)
    # A file need not be there: an editor may ask before it is saved.
    folder = place if is_folder else os.path.dirname(place)
    if not os.path.isdir(folder):
        raise UsageError(f"{path}: no such file or folder")
    configuration = request.configuration(cwd)
    settings = configuration.settings_for(folder)
    codes = settings.codes if is_folder else settings.options_for(posix(place)).codes
    rules = [rule.code for rule in RULES if codes is None or rule.code in codes]
    show = as_json if request.output_format is OutputFormat.JSON else as_text
    put(show(relative(place, cwd), configuration.file_for(folder), configuration.resolved(folder), rules))
    return CLEAN


def explain(file: str, request: Request, *, only_diff: bool = False) -> int:
    """Print what an error that PyTorch raised comes from. FINDINGS if a finding explains it, CLEAN if none does.

    `file` has a text with a traceback, STDIN means standard input. Raises UsageError for a text without such an error.
    """
    from autodetach.report.explanation import as_json, as_text
    from autodetach.tracebacks.explain import explain as explained
    from autodetach.tracebacks.explain import read_log

    if request.output_format not in (OutputFormat.TEXT, OutputFormat.JSON):
        raise UsageError(f"an explanation can be printed as text or json, not as {request.output_format.value}")
    target = request.output_file
    if target is not None and (target.endswith((SUFFIX, NOTEBOOK_SUFFIX)) or _is_same_file(target, file)):
        raise UsageError(f"--output-file {target}: the explanation goes there, and this is a source or the log itself")
    output = _output(request)
    reading = read_log(_read_log(file))
    if reading is None:
        raise UsageError(
            f"no autograd error in {'standard input' if file == STDIN else file}: looked for tracebacks that end in "
            "`Trying to backward through the graph a second time` and its like; see `autodetach explain --help`"
        )
    cwd = os.getcwd()
    configuration = request.configuration(cwd)
    is_text = request.output_format is OutputFormat.TEXT
    # A person who reads an unsafe repair is told so; a patch that is piped on is applied unread.
    unsafe = configuration.settings_for(cwd).unsafe_fixes if only_diff else True
    explanation = explained(reading, cwd, configuration, unsafe=unsafe, alternatives=not is_text and not only_diff)
    _say_problems(explanation.problems)
    if only_diff:
        if explanation.changes or output.file is not None:
            output.write_bytes(patch_of(explanation.changes))
        if not request.quiet:
            _say_about_patch(explanation)
    elif is_text:
        output.write(as_text(explanation, colour=output.colour, width=output.width))
    else:
        output.write(as_json(explanation))
    return FINDINGS if explanation.answers else CLEAN


def _is_same_file(one: str, other: str) -> bool:
    return other != STDIN and os.path.realpath(one) == os.path.realpath(other)


def _read_log(file: str) -> bytes:
    """Raises UsageError."""
    if file.endswith((SUFFIX, NOTEBOOK_SUFFIX)):
        raise UsageError(f"{file} is a program; give the traceback that it printed, or run `autodetach check {file}`")
    if file == STDIN:
        if sys.stdin.isatty():
            end = "Ctrl-Z and Enter" if os.name == "nt" else "Ctrl-D"
            say(f"Paste the traceback, whole, with the error at its end; then press Enter and {end}.")
        raw = sys.stdin.buffer.read(MAX_LOG_BYTES + 1)
    else:
        try:
            with open(file, "rb") as stream:
                raw = stream.read(MAX_LOG_BYTES + 1)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) else None
            raise UsageError(f"{file}: {reason or error}") from None
    if len(raw) > MAX_LOG_BYTES:
        raise UsageError("the log is longer than 256 MB; give its end: `tail -c 50000000 LOG | autodetach explain`")
    return raw


def _say_about_patch(explanation: Explanation) -> None:
    """Why there is no patch, or not the whole of it."""
    from autodetach.report.explanation import advice

    if not explanation.answers:
        say(f"No finding explains this error. {advice(explanation)}")
        return
    if has_cells(explanation.changes):
        say(NOTE_ON_CELLS)
    left = len(explanation.answers) - len(explanation.repaired)
    unsafe = sum(one.finding.is_unsafe for one in explanation.answers)
    if left and unsafe:
        say("The repair is unsafe and not in the patch; read why without --diff, and add --unsafe-fixes to print it.")
    elif not explanation.changes:
        say("No repair could be proven; the story, without --diff, says what to change.")


def _say_problems(problems: Iterable[Problem]) -> None:
    for problem in problems:
        kind = "warning" if problem.partial else "error"
        line = "" if problem.line is None else f":{problem.line}"
        cell = "" if problem.cell is None else f":cell {problem.cell}"
        say(f"{printable(problem.path)}{cell}{line}: {kind}: {printable(problem.message)}")


def clean(request: Request) -> int:
    """Remove what `check` keeps for the next run."""
    from autodetach.cache import clean as remove

    cwd = os.getcwd()
    folder = _cache_folder(request, request.configuration(cwd), cwd)
    count = None if folder is None else remove(folder)
    if folder is not None and count is not None and not request.quiet:
        what = f"{counted(count, 'file')} from " if os.path.isdir(folder) else ""
        say(f"Removed {what}{printable(relative(folder, cwd))}.")
    return CLEAN


def _cache_folder(request: Request, configuration: Configuration, cwd: str) -> str | None:
    """Where results are kept: as the command line, the environment or the settings say. Raises ConfigError.

    None where a link in the project, which somebody else may have made, leads out of it.
    """
    from autodetach.cache import FOLDER, home
    from autodetach.projects.imports import is_inside, project_root

    given = request.cache_dir or os.environ.get("AUTODETACH_CACHE_DIR")
    if given:
        return home(os.path.abspath(os.path.join(cwd, given)))
    project = project_root(cwd)
    folder = home(configuration.settings_for(cwd).cache_dir or os.path.join(project, FOLDER))
    leads_out = below(folder, project) != folder and not is_inside(project, folder)
    return None if leads_out else folder


COMMANDS = {"check": check, "diff": diff, "fix": fix}


def exit_code_of(command: Callable[[], int]) -> int:
    """Run a command; what it cannot do becomes one line on standard error and TROUBLE, Ctrl-C becomes INTERRUPTED."""
    try:
        return command()
    except (ConfigError, UsageError, OutputError) as error:
        say(f"error: {printable(str(error))}")
    except OSError as error:
        say(f"error: {printable(error.strerror or str(error))}")
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        say(f"error: {printable(internal_error(error))}")
    return TROUBLE


class _Run:
    """The tasks of a request, their outcomes, and every problem on the way; problems are said as they come."""

    def __init__(self, request: Request, *, fixing: bool) -> None:
        self.problems: list[Problem] = []
        self.said: list[Problem] = []
        self.stdin: bytes | None = None
        self.file_count = 0
        self.outcomes: tuple[Outcome, ...] = ()
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
        done = dict(tracked(run_as_done(tasks, jobs, self._cache(tasks)), len(tasks)))
        settled = settle(tasks, (done[number] for number in range(len(tasks))))
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
        output = _output(self._request)

        def tell(one: Located) -> str:
            return render(OutputFormat.TEXT, [one], colour=output.colour, width=output.width)

        settled = Walk(tasks, ask, put, tell).go()
        self.outcomes, self.changes = settled.outcomes, settled.changes
        self._report(problem for outcome in self.outcomes for problem in outcome.problems)

    @property
    def applied(self) -> int:
        """How many findings were repaired, or would be."""
        return sum(len(outcome.applied) for outcome in self.outcomes)

    def findings(self) -> list[Located]:
        """What is left, each finding once, in the order of files and lines."""
        return gather(self.outcomes, self._configuration)

    def write(self) -> None:
        """Write what is changed. The outcomes that rest on a file which cannot be written are forgotten."""
        problems = write(self.changes, self.outcomes)
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

        folder = _cache_folder(self._request, self._configuration, self._cwd)
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
        return [replace(self._task(file, ()), raw=self.stdin)]

    def _task(self, file: FoundFile, roots: tuple[str, ...]) -> Task:
        settings = self._configuration.settings_for(os.path.dirname(file.path))
        unsafe = settings.unsafe_fixes if self._fixing else None
        wanted = self._request.output_format in WITH_ALTERNATIVES and not self._request.statistics
        options = replace(settings.options_for(posix(file.path)), alternatives=wanted and not self._fixing)
        return Task(file, options, unsafe, roots=roots, cwd=self._cwd, wanted=self._adoption.filter_for(settings))

    def _report(self, problems: Iterable[Problem]) -> None:
        for problem in problems:
            self.said.append(problem)
            if not problem.partial:
                self.problems.append(problem)
            _say_problems([problem])


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
    if given and request.reads_stdin:
        raise UsageError(f"{given[0]} is about files, not about standard input")
    if request.write_baseline is not None and len(given) > 1:
        raise UsageError(f"{given[0]} records all findings; give it without {given[1]}")


def _output(request: Request, *, aside: bool = False) -> Output:
    """Where the findings or the patch go. Raises UsageError and OutputError."""
    if request.statistics and request.output_format not in WITH_STATISTICS:
        known = ", ".join(one.value for one in WITH_STATISTICS)
        raise UsageError(f"--statistics can be printed as {known}, not as {request.output_format.value}")
    output = Output(request.output_file, aside)
    output.check()
    return output


def _rendered(request: Request, this_run: _Run, findings: Sequence[Located], output: Output) -> str:
    if request.statistics:
        return render_statistics(request.output_format, findings, colour=output.colour)
    said = this_run.said
    return render(request.output_format, findings, colour=output.colour, width=output.width, problems=said)


def _reason(finding: Finding, outcome: Outcome) -> str:
    source = outcome.sources.get(finding.path) if finding.path else outcome.original
    place = outcome.file.shown
    if source is not None:
        start = source.place(finding.span.start)
        place = f"{start.shown}:{start.line}:{start.column + 1}"
    head = printable(f"{place}: {finding.code} {finding.name}: {finding.message}")
    if finding.fix is None:
        return head
    unsafe = f" (why unsafe: {finding.fix.why_unsafe})" if finding.fix.why_unsafe else ""
    return f"{head}\n   {printable(f'{finding.fix.applicability.value} fix: {finding.fix.message}{unsafe}')}"


def _say_found(this_run: _Run, located: Sequence[Located]) -> None:
    findings = [one.finding for one in located]
    files = counted(this_run.file_count, "file")
    if not this_run.file_count:
        if not this_run.problems:
            say("warning: there is no Python file here")
    elif not findings:
        say(f"No findings in {files}.")
    else:
        safe = sum(finding.is_safe for finding in findings)
        unsafe = sum(finding.is_unsafe for finding in findings)
        more = f", {unsafe} more with --unsafe-fixes" if unsafe else ""
        say(f"Found {counted(len(findings), 'finding')} in {files}; `autodetach fix` repairs {safe or 'none'}{more}.")


def _say_fixed(this_run: _Run, located: Sequence[Located], verb: str) -> None:
    applied = this_run.applied
    left = [one.finding for one in located]
    if not this_run.file_count:
        _say_found(this_run, located)
        return
    hidden = sum(finding.is_unsafe for finding in left)
    more = f" ({hidden} more with --unsafe-fixes)" if hidden else ""
    say(f"Found {applied + len(left)}, {verb} {applied}, {len(left)} left{more}.")


def _cpu_count() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
