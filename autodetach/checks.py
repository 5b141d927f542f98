"""What a check is asked, and what it answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from autodetach.finding import Finding, Problem
from autodetach.named_tuples import NamedTuple
from autodetach.source import Edit, Lines, Source
from autodetach.uses import Uses

if TYPE_CHECKING:
    from autodetach.machine.evidence import Evidence


class CheckOptions(NamedTuple):
    """What to look for. `codes` are the enabled rule codes, None for all of them.

    `alternatives`: also prove other repairs than the first, which takes longer. Without `fixes`, repairs are looked for
    only where the finding depends on them: the findings are the same, and few of them have a fix. `whole`: run also
    what cannot have a finding, to learn what it does with the files of others.
    """

    codes: frozenset[str] | None = None
    prefer_accumulate: Literal["item", "detach"] = "item"
    prefer_shared: Literal["retain", "sum"] = "retain"
    alternatives: bool = False
    fixes: bool = True
    whole: bool = False


class CheckResult(NamedTuple):
    """Findings in the order of their places. With problems, the file was not analysed, or not whole.

    `sources` are all files that were taken into account, by absolute path, the analysed one first. `used` says where
    the comments stand that silence something, see `suppress.sift`, and `known` what a record knows, see `Wanted`: each
    by file, the analysed one being the empty path. `evidence` is what was given, as it is to be asked about
    programs that repairs make of this one. `cost` is what it took, in the units of `machine.running`. `uses` tells what
    this program does with what all files make, by absolute path, the analysed one being the empty path. `about` are the
    first and last lines of that of which it tells everything, and nothing of all else; None if it tells of all.
    """

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...] = ()
    sources: Mapping[str, Source] = {}
    used: frozenset[tuple[str, int]] = frozenset()
    known: frozenset[tuple[str, int, str]] = frozenset()
    evidence: Evidence | None = None
    cost: int = 0
    uses: Mapping[str, Uses] = {}
    about: Lines | None = None


Choice = tuple[tuple[int, ...], frozenset[tuple[str, int, str]]]
"""The places of what is wanted, and what a record knows of the others: see `Wanted.sift`."""


class Wanted(Protocol):
    """Which findings to tell, and to repair, of those that no comment silences; without one, all."""

    def sift(self, findings: Sequence[Finding], sources: Mapping[str, Source], root: str) -> Choice:
        """The places in `findings` of those that are wanted; of the others, those that a record knows.

        `root` is the path of the analysed file among `sources`, which the findings call by the empty path. A known one
        is a path as in the findings, the offset, and what the record calls it.
        """

    def after(self, changes: Iterable[Change]) -> Wanted:
        """The same where files have been changed meanwhile."""


class Change(NamedTuple):
    """What became of one file: `edits` count in `original`, and make `source` of it. `path` is absolute."""

    path: str
    original: Source
    edits: tuple[Edit, ...]
    source: Source

    @property
    def stored(self) -> bytes:
        """The bytes that the file is to have."""
        return self.original.stored_with(self.edits)
