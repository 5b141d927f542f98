"""`autodetach run`: a program under observation, then the findings that the run has confirmed, and their repair."""

from __future__ import annotations

import os
import sys
import traceback
from dataclasses import dataclass, field

from autodetach.changes import patch_of, write
from autodetach.config import Configuration, Overrides
from autodetach.console import printable, put_bytes, say, wants_colour, width_of
from autodetach.doctor import program as programs
from autodetach.doctor.observer import Options
from autodetach.doctor.repair import Observations, Repair, repair
from autodetach.doctor.session import Session
from autodetach.doctor.words import tell
from autodetach.finding import Applicability
from autodetach.report.paragraph import Paragraph


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


def run(request: RunRequest) -> programs.Ending:
    """Run the program, tell what was seen on standard error, and repair it if asked. Raises ProgramError.

    The ending is the program's own, whatever was seen.
    """
    start = programs.module if request.is_module else programs.script
    program = start(request.target, request.arguments)
    cwd = os.getcwd()
    session = Session(request.options, tell)
    ending = session.run(program)
    for text in session.observer.blind:
        say(f"autodetach: {text}")
    if not session.observer.attached:
        say("autodetach: the program has not imported PyTorch: there was nothing to observe")
        return ending
    seen = Observations(program.file, tuple(session.diagnoses), _traceback(ending.error), session.evidence)
    if seen.diagnoses or seen.traceback:
        _conclude(request, seen, cwd)
    elif not request.quiet:
        observer = session.observer
        say(f"autodetach: {observer.journal.calls} differentiations and {observer.steps} steps observed: no fault seen")
    return ending


def _conclude(request: RunRequest, seen: Observations, cwd: str) -> None:
    configuration = Configuration(cwd, Overrides(), request.config)
    unsafe = request.unsafe_fixes or configuration.settings_for(cwd).unsafe_fixes
    result = repair(seen, cwd, configuration, unsafe=unsafe)
    for problem in result.problems:
        say(f"autodetach: {printable(problem.path)}: {printable(problem.message)}")
    colour, width = wants_colour(sys.stderr), width_of(sys.stderr)
    for located in result.answers:
        say("\n".join(Paragraph(located, colour=colour, width=width).lines()))
    if seen.diagnoses and not result.answers:
        say("autodetach: reading the program shows no repair for what was seen; the story above says where to look")
    if request.fix:
        _write(result)
    elif request.diff:
        sys.stdout.flush()
        put_bytes(patch_of(result.changes))
    elif result.answers and result.changes:
        say("autodetach: `autodetach run --diff` prints the repair as a patch, `--fix` applies it")


def _write(result: Repair) -> None:
    problems = write(result.changes, None)
    for problem in problems:
        say(f"autodetach: {printable(problem.path)}: not changed: {printable(problem.message)}")
    if problems:
        return
    safe = sum(f.fix is not None and f.fix.applicability is Applicability.SAFE for f in result.repaired)
    say(f"autodetach: repaired {len(result.repaired)} ({safe} safe) in {len(result.changes)} files")


def _traceback(error: BaseException | None) -> str:
    if error is None or isinstance(error, KeyboardInterrupt):
        return ""
    return "".join(traceback.format_exception(type(error), error, error.__traceback__))
