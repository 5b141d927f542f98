"""What the tool says about a program: findings, their stories and their fixes, as plain data."""

from __future__ import annotations

import enum

from autodetach.named_tuples import NamedTuple
from autodetach.source import Edit, Span

NEVER_DIFFERENTIATED = "nothing differentiates it: the graph grows for as long as the loop runs"
"""The step of a story that another program, which does differentiate it, refutes."""


class Severity(enum.Enum):
    """How bad a finding is; the order is that of DESIGN: what raises or grows by activations is an error."""

    ERROR = "error"
    WARNING = "warning"


class Applicability(enum.Enum):
    """Whether a fix may be applied without a person reading it.

    SAFE: every edge that the fix rests on is known, and every parameter step consumes the same gradient as before (in
    a program that raised: as it would have). UNSAFE: it rests on an assumption, cuts off gradient of an earlier pass,
    or there is another repair that the author may have meant.
    """

    SAFE = "safe"
    UNSAFE = "unsafe"


class StoryStep(NamedTuple):
    """One line of a story. `line` counts from 1; `text` is a clause without a full stop.

    `path` is the absolute path of the file, empty for the one that was analysed.
    """

    line: int
    text: str
    path: str = ""


class Fix(NamedTuple):
    """Edits that repair a finding together; those of one file do not overlap and are sorted by their start.

    `edits` are in the file of the finding; `elsewhere` has those in other files, by absolute path. `observed` says in
    words what a run of the program has shown that would be an assumption without it. `together`: it was proven in one
    run with those of all other findings of its rule that say so.
    """

    message: str
    applicability: Applicability
    edits: tuple[Edit, ...]
    why_unsafe: str | None = None
    elsewhere: tuple[tuple[str, tuple[Edit, ...]], ...] = ()
    observed: tuple[str, ...] = ()
    together: bool = False


class Finding(NamedTuple):
    """A place where a piece of autograd graph lives longer, or shorter, than its author thinks.

    `path` is the absolute path of the file where it is, empty for the one that was analysed. `assumptions` say what it
    rests on that nobody knows, `observed` what it rests on that only a run of the program has shown.
    """

    code: str
    name: str
    message: str
    severity: Severity
    span: Span
    story: tuple[StoryStep, ...] = ()
    assumptions: tuple[str, ...] = ()
    fix: Fix | None = None
    alternatives: tuple[Fix, ...] = ()
    path: str = ""
    observed: tuple[str, ...] = ()

    @property
    def is_safe(self) -> bool:
        """Whether it has a fix that is safe."""
        return self.fix is not None and self.fix.applicability is Applicability.SAFE

    @property
    def is_unsafe(self) -> bool:
        """Whether it has a fix, and an unsafe one."""
        return self.fix is not None and self.fix.applicability is Applicability.UNSAFE


def edits_by_file(finding: Finding) -> tuple[tuple[str, tuple[Edit, ...]], ...]:
    """The edits of a finding's fix, by absolute path (empty: of the analysed file)."""
    if finding.fix is None:
        return ()
    own = ((finding.path, finding.fix.edits),) if finding.fix.edits else ()
    return (*own, *finding.fix.elsewhere)


class Problem(NamedTuple):
    """Something that kept a file from being analysed whole: what, where, and what to do, in one line.

    `line` counts from 1, in a notebook in the cell `cell`, or is None where the problem has no line. `partial`: the
    file was read and analysed, but not along all of its paths; that is said, and is no failure. `around`: it is one of
    a cell, and the other cells were analysed all the same.
    """

    path: str
    message: str
    line: int | None = None
    partial: bool = False
    cell: int | None = None
    around: bool = False
