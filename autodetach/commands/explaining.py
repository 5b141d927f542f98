"""An error that PyTorch raised is explained from the text that it printed."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from autodetach.changes import NOTE_ON_CELLS, has_cells, patch_of
from autodetach.commands.request import CLEAN, FINDINGS, STDIN, Request, UsageError, say_problems
from autodetach.commands.run import output_of
from autodetach.console import say
from autodetach.disk.files import NOTEBOOK_SUFFIX, SUFFIX
from autodetach.disk.reasons import reason_of
from autodetach.report import OutputFormat

if TYPE_CHECKING:
    from autodetach.tracebacks.explain import Explanation

MAX_LOG_BYTES = 256 * 1024 * 1024

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
    output = output_of(request)
    reading = read_log(_read_log(file))
    if reading is None:
        raise UsageError(
            f"no autograd error in {_shown(file)}: looked for tracebacks that end in "
            "`Trying to backward through the graph a second time` and its like; see `autodetach explain --help`"
        )
    cwd = os.getcwd()
    configuration = request.configuration(cwd)
    is_text = request.output_format is OutputFormat.TEXT
    # A person who reads an unsafe repair is told so; a patch that is piped on is applied unread.
    unsafe = configuration.settings_for(cwd).unsafe_fixes if only_diff else True
    explanation = explained(reading, cwd, configuration, unsafe=unsafe, alternatives=not is_text and not only_diff)
    say_problems(explanation.problems)
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


def _shown(file: str) -> str:
    return "standard input" if file == STDIN else file


def _is_same_file(one: str, other: str) -> bool:
    return other != STDIN and os.path.realpath(one) == os.path.realpath(other)


def _read_log(file: str) -> bytes:
    """Raises UsageError."""
    if file.endswith((SUFFIX, NOTEBOOK_SUFFIX)):
        raise UsageError(f"{file} is a program; give the traceback that it printed, or run `autodetach check {file}`")
    if file == STDIN and sys.stdin.isatty():
        end = "Ctrl-Z and Enter" if os.name == "nt" else "Ctrl-D"
        say(f"Paste the traceback, whole, with the error at its end; then press Enter and {end}.")
    try:
        if file == STDIN:
            raw = sys.stdin.buffer.read(MAX_LOG_BYTES + 1)
        else:
            with open(file, "rb") as stream:
                raw = stream.read(MAX_LOG_BYTES + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"{_shown(file)}: {reason_of(error)}") from None
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
