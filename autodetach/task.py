"""A file to look at, and what became of that."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from autodetach.checks import Change, CheckOptions, Wanted
from autodetach.comments.marks import may_name_rules
from autodetach.disk.files import FoundFile
from autodetach.disk.state import Ground
from autodetach.finding import Finding, Problem
from autodetach.named_tuples import NamedTuple
from autodetach.source import Edit, Lines, Source
from autodetach.uses import Uses

if TYPE_CHECKING:
    from autodetach.fixing import Judge
    from autodetach.machine.evidence import Evidence
    from autodetach.record import Record


class Task(NamedTuple):
    """A file to look at. `raw` are its bytes if they were read already (standard input).

    `unsafe` is None to check only, else whether unsafe fixes are wanted too. What the file imports may be edited too if
    it lies at or below one of the absolute paths `roots`, and is none of `forbidden`. `changed` has sources that are to
    be taken instead of what is on disk, by absolute path. `cwd` is the folder to which shown names are relative.
    `evidence` is what a run of the program has shown. With `notes`, the outcome says what it rests on. `is_beside`: it
    was not asked for, and is not edited, see `beside`. `judge`: what others say of its repairs.
    """

    file: FoundFile
    options: CheckOptions
    unsafe: bool | None = None
    raw: bytes | None = None
    roots: tuple[str, ...] = ()
    forbidden: frozenset[str] = frozenset()
    changed: Mapping[str, Source] = {}
    cwd: str = ""
    wanted: Wanted | None = None
    evidence: Evidence | None = None
    notes: bool = False
    is_beside: bool = False
    judge: Judge | None = None

    def may_edit(self, path: str) -> bool:
        """Whether another file, by its absolute path, may be edited."""
        return path not in self.forbidden and any(
            path == root or path.startswith(root.rstrip(os.sep) + os.sep) for root in self.roots
        )


class Outcome(NamedTuple):
    """What became of a task. Nothing is written: that is the business of the caller.

    `findings` are those left: they count in `source`, which is the fixed one if there are edits. `applied` and `edits`
    count in `original`. Both sources are None where there is neither a finding nor an edit, nor a comment that may
    silence one. `elsewhere` are changes of imported files, `sources` those of them that findings speak of, by absolute
    path, and `imported` all that were read. `used`, `known` and `about` are as in `CheckResult`. `ground` is what this
    rests on, None where nobody asked or where it may be otherwise the next time.
    """

    file: FoundFile
    findings: tuple[Finding, ...] = ()
    problems: tuple[Problem, ...] = ()
    source: Source | None = None
    original: Source | None = None
    applied: tuple[Finding, ...] = ()
    edits: tuple[Edit, ...] = ()
    elsewhere: tuple[Change, ...] = ()
    sources: Mapping[str, Source] = {}
    imported: tuple[str, ...] = ()
    used: frozenset[tuple[str, int]] = frozenset()
    known: frozenset[tuple[str, int, str]] = frozenset()
    ground: Ground | None = None
    uses: Mapping[str, Uses] = {}
    about: Lines | None = None

    def source_of(self, path: str) -> Source | None:
        """The source in which what a finding says of `path` counts; of the analysed file where it is empty."""
        return self.sources.get(path) if path else self.source


def spoken_of(findings: Iterable[Finding], sources: Mapping[str, Source]) -> dict[str, Source]:
    """Those of the sources, by absolute path, that findings speak of."""
    paths = paths_of(findings)
    return {path: source for path, source in sources.items() if path in paths}


def paths_of(findings: Iterable[Finding]) -> set[str]:
    """The files that findings speak of, as these name them."""
    return {
        path
        for finding in findings
        for path in (
            finding.path,
            *(step.path for step in finding.story),
            *(at for fix in (finding.fix, *finding.alternatives) if fix is not None for at, _ in fix.elsewhere),
        )
    }


def options_key(task: Task) -> str:
    """In words that are the same for the same options: what is looked for, and how findings and files are called."""
    codes = None if task.options.codes is None else sorted(task.options.codes)
    return repr((task.options._replace(codes=None), codes))


def record_of(outcome: Outcome) -> Record:
    """What the cache keeps of an outcome."""
    from autodetach.record import Record

    has_comments = outcome.source is not None and may_name_rules(outcome.source.raw)
    return Record(outcome.findings, outcome.problems, outcome.imported, outcome.used, has_comments, dict(outcome.uses))
