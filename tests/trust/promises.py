"""What has to hold for every file, whatever is in it; the fuzzers and the runs over the world's code ask here."""

from __future__ import annotations

import ast
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst

from autodetach.checks import CheckOptions
from autodetach.decoding import SourceError
from autodetach.disk.files import FoundFile
from autodetach.notebooks.notebook import read
from autodetach.patch import patched_file, render_bytes
from autodetach.perform import run_one
from autodetach.report import Located, OutputFormat, render
from autodetach.source import Edit, Source
from autodetach.task import Outcome, Task

UNFINISHED = "not all fixes were applied"
ALL = CheckOptions(alternatives=True)


@dataclass
class Verdict:
    """What came of one file. `wrong` are broken promises; `problems` what the tool itself said, and rightly may."""

    outcome: Outcome
    fixed: Outcome
    wrong: list[str] = field(default_factory=list)

    @property
    def problems(self) -> list[str]:
        return [problem.message for problem in self.outcome.problems]


def kept(path: str, raw: bytes | None = None, *, formats: Sequence[OutputFormat] = ()) -> Verdict:
    """Check a file and repair it with all fixes, in memory, and hold the outcome to what is promised.

    Without `raw` it is read from disk. Findings are also rendered in `formats`. Whatever raises is a broken promise.
    """
    file = FoundFile(path, path)
    verdict = Verdict(run_one(Task(file, ALL, raw=raw)), run_one(Task(file, CheckOptions(), unsafe=True, raw=raw)))
    wrong = verdict.wrong
    for outcome in (verdict.outcome, verdict.fixed):
        for problem in outcome.problems:
            if "internal error" in problem.message or "\n" in problem.message or not problem.message.strip():
                wrong.append(f"says: {problem.message}")
    wrong += _findings(verdict.outcome, formats)
    fixed = verdict.fixed
    if fixed.applied and not fixed.edits:
        wrong.append("a fix is said to be applied, and there is no edit")
    if fixed.edits and fixed.original is not None and fixed.source is not None:
        wrong += _repair(fixed.original, fixed.edits, fixed.source)
        again = run_one(Task(file, CheckOptions(), unsafe=True, raw=fixed.source.stored))
        finished = not any(problem.message.startswith(UNFINISHED) for problem in (*fixed.problems, *again.problems))
        if again.edits and finished:
            wrong.append(f"a second repair changes something: {again.edits}")
        if any(not problem.partial for problem in again.problems):
            wrong.append(f"of what is repaired it says: {again.problems}")
    return verdict


def _findings(outcome: Outcome, formats: Sequence[OutputFormat]) -> list[str]:
    wrong = []
    source = outcome.source
    for finding in outcome.findings:
        here = outcome.source_of(finding.path)
        if here is None or not 0 <= finding.span.start <= finding.span.end <= len(here.raw):
            wrong.append(f"{finding.code}: a place that is not there: {finding.span}")
        for step in finding.story:
            told = outcome.source_of(step.path)
            if told is None or not 1 <= step.line <= told.line_count:
                wrong.append(f"{finding.code}: a story that speaks of line {step.line}")
    if source is not None and not wrong:
        others = {**outcome.sources, "": source}
        located = [
            Located(f, others[f.path], others[f.path].path, f.path or outcome.file.path, outcome.file.path, others)
            for f in outcome.findings
        ]
        for one in formats:
            render(one, located, colour=True, width=80, problems=outcome.problems)
    return wrong


def _repair(original: Source, edits: Sequence[Edit], repaired: Source) -> list[str]:
    wrong = []
    if spliced(original, edits) != repaired.raw:
        wrong.append("a byte outside of the edits differs")
    if original.stored_with(edits) != repaired.stored:
        wrong.append("what is written is not what was proven")
    if original.file is original and patched(original.raw, original, edits) != repaired.raw:
        wrong.append("the patch makes something else")
    if original.file is not original:
        try:
            read(repaired.stored, repaired.path)
        except SourceError as error:
            wrong.append(f"the repaired notebook cannot be read: {error}")
        return wrong
    try:
        parsed(repaired.raw)
    except (SyntaxError, ValueError) as error:
        wrong.append(f"what is repaired does not parse: {error}")
    else:
        if _libcst_reads(original) and not _libcst_reads(repaired):
            wrong.append("libcst reads what was, and not what is repaired")
    return wrong


def parsed(raw: bytes) -> ast.Module:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(raw)


def _libcst_reads(source: Source) -> bool:
    try:
        libcst.parse_module(source.cst_text)
    except Exception:
        return False
    return True


def spliced(source: Source, edits: Sequence[Edit]) -> bytes:
    """The bytes with the edits in place, worked out in the plainest way."""
    raw = source.raw
    for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
        text = edit.replacement.replace("\r\n", "\n").replace("\r", "\n").replace("\n", source.newline)
        raw = raw[: edit.start] + text.encode(source.encoding) + raw[edit.end :]
    return raw


def patched(raw: bytes, source: Source, edits: Sequence[Edit]) -> bytes:
    """The bytes after the patch that is printed for these edits, applied in the plainest way."""
    patch = render_bytes([patched_file(source, edits, "a.py")])
    old = raw.splitlines(keepends=True) if b"\r" not in raw else [x + b"\n" for x in raw.split(b"\n")]
    if b"\r" in raw:
        old[-1:] = [old[-1][:-1]] if old[-1] != b"\n" else []
    new: list[bytes] = []
    at = 0
    previous = b""
    for line in (x + b"\n" for x in patch.split(b"\n")[2:-1]):
        if line.startswith(b"@@"):
            begin, _, count = line.split(b" ")[1][1:].partition(b",")
            start = int(begin) - (count != b"0")
            new += old[at:start]
            at = start
        elif line.startswith(b"\\"):
            last = new if previous == b"+" else None
            if last is not None or previous == b" ":
                new[-1] = new[-1][:-1]
            continue
        else:
            if line[:1] in (b" ", b"-"):
                whole = line[1:]
                if whole != old[at] and whole[:-1] != old[at]:
                    raise AssertionError(f"the patch says {whole!r} where the file has {old[at]!r}")
                at += 1
            if line[:1] in (b" ", b"+"):
                new.append(line[1:])
        previous = line[:1]
    return b"".join(new + old[at:])
