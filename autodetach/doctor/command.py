"""`autodetach run`: a program under observation, then the findings that the run has confirmed, and their repair."""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import dataclass, field, replace

from autodetach.changes import patch_of, write
from autodetach.commands.request import line_of
from autodetach.console import counted, printable, say, wants_colour, width_of
from autodetach.doctor import plot
from autodetach.doctor import program as programs
from autodetach.doctor.diagnosis import Diagnosis
from autodetach.doctor.live import LiveLine
from autodetach.doctor.observer import Options
from autodetach.doctor.repair import Observations, Repair, repair
from autodetach.doctor.session import Session
from autodetach.doctor.table import table
from autodetach.doctor.watching import summary
from autodetach.doctor.words import tell
from autodetach.output import Output
from autodetach.perform import internal_error
from autodetach.report.paragraph import Paragraph
from autodetach.settings.config import ConfigError, Configuration, Overrides


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The arguments of `run`. `target` is a script, or with `is_module` the name of a module."""

    target: str
    arguments: tuple[str, ...] = ()
    is_module: bool = False
    fix: bool = False
    diff: bool = False
    options: Options = field(default_factory=Options)
    unsafe_fixes: bool = False
    config: str | None = None
    quiet: bool = False
    plot: str | None = None


def run(request: RunRequest) -> programs.Ending:
    """Run the program, tell what was seen on standard error, and repair it if asked.

    The ending is the program's own, whatever was seen. Raises, before it runs, ProgramError, PlotError and ConfigError.
    """
    if request.plot is not None:
        plot.check(request.plot)
    start = programs.module if request.is_module else programs.script
    program = start(request.target, request.arguments)
    cwd = os.getcwd()
    configuration = Configuration(cwd, Overrides(), request.config)
    for folder in (cwd, os.path.dirname(os.path.abspath(program.file))):
        configuration.settings_for(folder)
    target = None if request.plot is None else os.path.abspath(request.plot)
    live = None if request.quiet or not _is_screen() else LiveLine(sys.stderr)

    def told(diagnosis: Diagnosis) -> None:
        if live is not None:
            live.erase()
        tell(diagnosis)

    session = Session(replace(request.options, weigh=target is not None), told)
    if live is not None:
        session.observer.reporters.append(live)
    try:
        ending = session.run(program)
    finally:
        if live is not None:
            live.end()
    for line in table(session.diagnoses, width_of(sys.stderr)):
        say(line)
    if target is not None:
        _plot(target, session, os.path.basename(request.target))
    observer = session.observer
    for text in observer.blind:
        say(f"autodetach: {text}")
    if not observer.attached:
        if not observer.blind:
            say(f"autodetach: {summary(observer)}")
        return ending
    seen = Observations(program.file, tuple(session.diagnoses), _traceback(ending.error), session.evidence)
    if seen.diagnoses or seen.traceback or request.fix or request.diff:
        # What reading finds is repaired too, whether this run has shown it or not.
        try:
            _conclude(request, seen, cwd, configuration)
        except ConfigError as error:
            say(f"autodetach: {printable(str(error))}")
        except Exception as error:  # the program has run, and its ending is its own
            say(f"autodetach: {printable(internal_error(error))}")
    elif not request.quiet:
        say(f"autodetach: {summary(observer)}")
    return ending


def _is_screen() -> bool:
    return sys.stderr.isatty() and os.environ.get("TERM") != "dumb"


def _plot(path: str, session: Session, title: str) -> None:
    try:
        plot.draw(path, session.observer.growth, title)
    except plot.PlotError as error:
        say(f"autodetach: {printable(str(error))}")
    except Exception as error:  # the program has run, and is not to fail for a picture
        say(f"autodetach: no plot was drawn: {printable(repr(error))}")


def _conclude(request: RunRequest, seen: Observations, cwd: str, configuration: Configuration) -> None:
    unsafe = request.unsafe_fixes or configuration.settings_for(cwd).unsafe_fixes
    result = repair(seen, cwd, configuration, unsafe=unsafe, apply=request.fix or request.diff)
    for problem in result.problems:
        say(f"autodetach: {line_of(problem)}")
    colour, width = wants_colour(sys.stderr), width_of(sys.stderr)
    for located in result.answers:
        say("\n".join(Paragraph(located, colour=colour, width=width).lines()))
    if seen.diagnoses and not result.answers:
        say("autodetach: reading the program shows no repair for what was seen; the story above says where to look")
    if request.fix:
        _write(result)
    elif request.diff:
        sys.stdout.flush()
        Output().write_bytes(patch_of(result.changes))
    elif result.offers:
        say("autodetach: `autodetach run --diff` prints the repair as a patch, `--fix` applies it")


def _write(result: Repair) -> None:
    problems = write(result.changes, None)
    for problem in problems:
        say(f"autodetach: {line_of(problem)}")
    if problems:
        return
    safe = sum(finding.is_safe for finding in result.repaired)
    findings, files = counted(len(result.repaired), "finding"), counted(len(result.changes), "file")
    say(f"autodetach: repaired {findings} ({safe} safe) in {files}")


def _traceback(error: BaseException | None) -> str:
    if error is None or isinstance(error, KeyboardInterrupt):
        return ""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
