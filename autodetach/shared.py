"""What several programs do with what they share: what is said of one of them, and its repairs, must hold for all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from autodetach.finding import NEVER_DIFFERENTIATED, Applicability, Finding, Fix, edits_by_file
from autodetach.source import Source
from autodetach.task import Outcome
from autodetach.uses import Uses, lines_of

KEPT = "AD1"
"""How the codes begin of what is kept too long: nothing raises, and a repair changes what is kept, not what is done."""
OF_GRADIENT = ("AD2", "AD3", "AD402", "AD404")
"""How the codes begin whose repairs change what is differentiated, and nothing else."""
SPELLING = "AD401"
"""The code of what reads a value: `x.data.item()` is `x.item()` for all, `x.data[0]` only where there is one value."""
OF_WHAT_IS_NOT_DONE = frozenset({"AD101", "AD102", "AD103"})
"""Rules that say that nothing differentiates a value, or nothing walks a graph again."""
CALLED = "another program calls this function, too, and does not have this fault"
NOT_PROVEN = "another program calls this function, too, and this is no safe repair there"


class Shared:
    """What some of several programs do with what is made in files that they share."""

    def __init__(self, outcomes: Iterable[Outcome]) -> None:
        self._by_file: dict[str, dict[str, Uses]] = {}
        for outcome in outcomes:
            for path, uses in outcome.uses.items():
                self._by_file.setdefault(path or outcome.file.path, {})[outcome.file.path] = uses
            first = first_sources(outcome)
            for path, edits in (one for f in outcome.applied if f.is_safe for one in edits_by_file(f)):
                programs = self._by_file.get(path or outcome.file.path, {})
                if outcome.file.path in programs and path in first:
                    uses = programs[outcome.file.path]
                    mended = uses.mended | lines_of(edits, first[path])
                    programs[outcome.file.path] = uses._replace(mended=mended)

    def contradict(self, finding: Finding, source: Source | None, program: str) -> bool:
        """Whether a finding says that something is not done with a graph that another program does, or never makes.

        The finding counts in `source`, and is one of `program`, the path of its root. What nothing in that calls may be
        called by another one, with gradients off.
        """
        never = any(step.text == NEVER_DIFFERENTIATED for step in finding.story)
        if finding.code not in OF_WHAT_IS_NOT_DONE and not never:
            return False
        programs = self._by_file.get(finding.path or program, {})
        own = programs.get(program, Uses())
        lines = sum({1 << step.line for step in finding.story if step.path == finding.path})
        others = [uses for other, uses in programs.items() if other != program]
        if any(uses.walked & ~own.walked & lines for uses in others):
            return True
        if source is None:
            return False
        place = 1 << source.position(finding.span.start).line
        if any(uses.awaited & ~uses.told & ~own.awaited & place for uses in others):
            return True
        return bool(own.entered & place) and any(uses.off & place for uses in others)

    def may_want_tensors(self, outcome: Outcome) -> bool:
        """Whether a repair makes numbers in a function that another program calls, and is not told of.

        Nothing is proven for that one: it may do with the result what only tensors can. With gradients off, as in an
        evaluation, no program is told of anything.
        """
        first = first_sources(outcome)
        return any(
            _makes_numbers(finding) and self._is_called_untold(finding, source, outcome.file.path)
            for finding in outcome.applied or outcome.findings
            if (source := first.get(finding.path) or outcome.source_of(finding.path)) is not None
            and not self.contradict(finding, source, outcome.file.path)
        )

    def _is_called_untold(self, finding: Finding, source: Source, program: str) -> bool:
        """Whether another program calls the function in which a finding is, and has no finding there."""
        place = 1 << source.position(finding.span.start).line
        programs = self._by_file.get(finding.path or program, {})
        others = [uses for other, uses in programs.items() if other != program]
        return any(uses.off & place or uses.called & ~uses.told & place for uses in others)

    def judged(self, finding: Finding, first: Finding, sources: Mapping[str, Source], program: str) -> Finding:
        """A finding of `program` with its repairs as they are where other programs call what these change.

        What could only raise where it was proven may be right for another one that is not told of it: so the repair is
        not safe. One that has a doubt already is none where another program differentiates what it changes. What is
        kept too long raises nowhere, see `may_want_tensors`. `first` is the finding in terms of the first `sources`.
        """
        if finding.fix is None or finding.code.startswith(KEPT):
            return finding
        fixes = (finding.fix, *finding.alternatives)
        in_first = fixes if first.fix is None else (first.fix, *first.alternatives)
        kept: list[Fix] = []
        for fix, before in zip(fixes, in_first, strict=False):
            one = first._replace(fix=before)
            doubt = self._doubt(one, sources, program)
            if doubt is None:
                kept.append(fix)
            elif fix.applicability is Applicability.SAFE:
                kept.append(fix._replace(applicability=Applicability.UNSAFE, why_unsafe=doubt, together=False))
            elif not self._is_differentiated(one, sources, program):
                kept.append(fix)
        if kept == list(fixes):
            return finding
        kept.sort(key=lambda fix: fix.applicability is not Applicability.SAFE)
        return finding._replace(fix=kept[0] if kept else None, alternatives=tuple(kept[1:]))

    def _doubt(self, finding: Finding, sources: Mapping[str, Source], program: str) -> str | None:
        """Why a repair is not proven for the others that call what it changes, if it is not."""
        if finding.code == SPELLING and _only_leaves_out(finding, sources, program):
            return None
        for at, place, lines in _edited(finding, sources, program):
            for other, uses in self._by_file.get(at, {}).items():
                if other == program or not uses.called & ~uses.mended & lines:
                    continue
                if finding.code.startswith(OF_GRADIENT) and (not lines & ~uses.off or not self._trains(other)):
                    continue  # it takes no gradient there
                return NOT_PROVEN if uses.told & place else CALLED
        return None

    def _is_differentiated(self, finding: Finding, sources: Mapping[str, Source], program: str) -> bool:
        """Whether another program that is not told of it differentiates what a repair changes."""
        return any(
            other != program and uses.walked & ~uses.mended & lines and not uses.told & place
            for at, place, lines in _edited(finding, sources, program)
            for other, uses in self._by_file.get(at, {}).items()
        )

    def _trains(self, program: str) -> bool:
        """Whether a program differentiates anything."""
        return any(uses[program].walked for uses in self._by_file.values() if program in uses)


def _edited(finding: Finding, sources: Mapping[str, Source], program: str) -> Iterator[tuple[str, int, int]]:
    """The files that a repair changes: the line of the finding, if it is there, and the changed ones, as in `Uses`."""
    for path, edits in edits_by_file(finding):
        source = sources.get(path or program)
        if source is not None:
            place = 1 << source.position(finding.span.start).line if path == finding.path else 0
            yield path or program, place, lines_of(edits, source)


def _only_leaves_out(finding: Finding, sources: Mapping[str, Source], program: str) -> bool:
    """Whether each edit leaves the end of what it replaces."""
    return all(
        sources[path or program].raw[edit.start : edit.end].endswith(edit.replacement.encode())
        for path, edits in edits_by_file(finding)
        for edit in edits
        if (path or program) in sources
    )


def _makes_numbers(finding: Finding) -> bool:
    return finding.fix is not None and any(".item()" in edit.replacement for edit in finding.fix.edits)


def first_sources(outcome: Outcome) -> dict[str, Source]:
    """What changed files were before, by absolute path, the analysed one being the empty path."""
    first = {change.path: change.original for change in outcome.elsewhere}
    if outcome.original is not None:
        first[""] = outcome.original
    return first
