"""Findings in notebooks as findings in the file that a notebook is: services show the lines of files, not cells."""

from __future__ import annotations

from collections.abc import Mapping

from autodetach.finding import Finding, Fix, Problem, StoryStep
from autodetach.report import Located
from autodetach.source import Edit, Source, Span


def in_file(located: Located) -> Located:
    """The finding with all its places in files; what is said names the cells."""
    sources = {**located.others, located.finding.path: located.source}
    if all(source.file is source for source in sources.values()):
        return located
    files = {path: source.file for path, source in sources.items()}
    finding = _Moved(sources, files, located.finding).finding()
    return located._replace(finding=finding, source=files[finding.path], others=files)


def problem_in_file(problem: Problem) -> Problem:
    """The problem without the line, which is none of the file."""
    if problem.cell is None:
        return problem
    line = "" if problem.line is None else f", line {problem.line}"
    return problem._replace(message=f"cell {problem.cell}{line}: {problem.message}", line=None, cell=None)


class _Moved:
    def __init__(self, sources: Mapping[str, Source], files: Mapping[str, Source], finding: Finding) -> None:
        self._sources = sources
        self._files = files
        self._finding = finding

    def finding(self) -> Finding:
        finding = self._finding
        source = self._sources[finding.path]
        start, end = source.offset_in_file(finding.span.start), source.offset_in_file(finding.span.end)
        return finding._replace(
            message=self._where(finding.path, finding.span.start) + finding.message,
            span=Span(start, max(start, end)),
            story=tuple(self._step(step) for step in finding.story),
            fix=None if finding.fix is None else self._fix(finding.fix),
            alternatives=tuple(self._fix(fix) for fix in finding.alternatives),
        )

    def _where(self, path: str, offset: int) -> str:
        place = self._sources[path].place(offset)
        return "" if place.cell is None else f"cell {place.cell}, line {place.line}: "

    def _step(self, step: StoryStep) -> StoryStep:
        source, file = self._sources[step.path], self._files[step.path]
        if source is file:
            return step
        offset = source.line_span(step.line).start
        line = file.position(source.offset_in_file(offset)).line
        return step._replace(line=line, text=self._where(step.path, offset) + step.text)

    def _fix(self, fix: Fix) -> Fix:
        elsewhere = tuple((path, self._edits(path, edits)) for path, edits in fix.elsewhere)
        return fix._replace(edits=self._edits(self._finding.path, fix.edits), elsewhere=elsewhere)

    def _edits(self, path: str, edits: tuple[Edit, ...]) -> tuple[Edit, ...]:
        return self._sources[path].edits_in_file(edits)
