"""Findings are printed, their repairs printed as a patch, or applied."""

from __future__ import annotations

import os
from collections.abc import Sequence

from autodetach.adoption.adopt import write_baseline
from autodetach.commands.request import Request
from autodetach.commands.run import Run, output_of
from autodetach.console import counted, printable, put_bytes, say
from autodetach.finding import Finding
from autodetach.output import Output
from autodetach.report import Located, render, render_statistics
from autodetach.task import Outcome


def check(request: Request) -> int:
    """Print the findings. The exit code is CLEAN, FINDINGS, or TROUBLE if a file could not be done."""
    output = output_of(request)
    this_run = Run(request, fixing=False)
    this_run.go()
    findings = this_run.findings()
    if request.write_baseline is not None:
        written = write_baseline(request.write_baseline, os.getcwd(), findings)
        if not request.quiet:
            say(printable(written))
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
    from autodetach.changes import NOTE_ON_CELLS, has_cells, patch_of

    output = output_of(request)
    this_run = Run(request, fixing=True)
    this_run.go()
    if this_run.changes or output.file is not None:
        output.write_bytes(patch_of(this_run.changes))
    findings = this_run.findings()
    if not request.quiet:
        for outcome in (*this_run.outcomes, *this_run.beside):
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
    output = output_of(request, aside=request.reads_stdin)
    this_run = Run(request, fixing=True)
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
    this_run = Run(request, fixing=True)
    this_run.walk()
    this_run.write()
    findings = this_run.findings()
    if not request.quiet:
        _say_fixed(this_run, findings, "fixed")
    return this_run.exit_code(found=bool(findings or (request.exit_non_zero_on_fix and this_run.applied)))


def _rendered(request: Request, this_run: Run, findings: Sequence[Located], output: Output) -> str:
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


def _say_found(this_run: Run, located: Sequence[Located]) -> None:
    findings = [one.finding for one in located]
    files = counted(this_run.file_count - this_run.unchecked, "file")
    if findings:
        safe = sum(finding.is_safe for finding in findings)
        unsafe = sum(finding.is_unsafe for finding in findings)
        more = f", {unsafe} more with --unsafe-fixes" if unsafe else ""
        number = counted(len(findings), "finding")
        found = f"Found {number} in {files}; `autodetach fix` repairs {safe or 'none'}{more}."
    else:
        found = f"No findings in {files}."
    _say_of_files(this_run, found)


def _say_fixed(this_run: Run, located: Sequence[Located], verb: str) -> None:
    applied = this_run.applied
    left = [one.finding for one in located]
    hidden = sum(finding.is_unsafe for finding in left)
    more = f" ({hidden} more with --unsafe-fixes)" if hidden else ""
    _say_of_files(this_run, f"Found {applied + len(left)}, {verb} {applied}, {len(left)} left{more}.")


def _say_of_files(this_run: Run, found: str) -> None:
    """Say what was found, if anything was looked at, and in how many files nobody knows."""
    if not this_run.file_count:
        if not this_run.problems:
            say("warning: there is no Python file here")
        return
    said = [found] if this_run.file_count > this_run.unchecked else []
    if this_run.unchecked:
        said.append(f"{counted(this_run.unchecked, 'file')} could not be checked.")
    say(" ".join(said))


COMMANDS = {"check": check, "diff": diff, "fix": fix}
