"""All diagnostics as they are now, by the URI of what they stand in."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Sequence

from lsprotocol import converters, types

from autodetach.decoding import SourceError
from autodetach.finding import Problem
from autodetach.lsp.desk import Desk
from autodetach.lsp.diagnostics import diagnostic_of, problem_of
from autodetach.lsp.documents import Document, Documents, Notebook
from autodetach.lsp.places import Places
from autodetach.notebooks.cells import CellError
from autodetach.report import Located
from autodetach.source import Source


class Board:
    """Says what an editor shall show. `story`: it shows what is related to a diagnostic."""

    def __init__(self, documents: Documents, desk: Desk, places: Places, *, story: bool) -> None:
        self._documents = documents
        self._desk = desk
        self._places = places
        self._story = story

    def diagnostics(self) -> dict[str, list[types.Diagnostic]]:
        """Of all that is open, and of what else has findings."""
        shown: dict[str, list[types.Diagnostic]] = defaultdict(list)
        for opened in self._documents:
            shown.update((uri, []) for uri in opened.uris)
            self._add_problems(opened, shown)
        for found in self._desk.findings().values():
            for located in found:
                shown[self.place(located).uri].append(diagnostic_of(located, self._places, story=self._story))
        return shown

    def place(self, located: Located) -> types.Location:
        """Where a finding is."""
        span = located.finding.span
        return self._places.location(located.path, located.source, span.start, span.end)

    def diagnostic(self, located: Located) -> types.Diagnostic:
        """A finding as it is shown."""
        return diagnostic_of(located, self._places, story=self._story)

    def _add_problems(self, opened: Document | Notebook, shown: dict[str, list[types.Diagnostic]]) -> None:
        problems = self._desk.problems(opened.path)
        if not problems or not opened.uris:
            return
        try:
            source = opened.source(opened.path)
        except CellError as error:
            uri = opened.uri_of_cell(error.cell) if isinstance(opened, Notebook) else opened.uri
            shown[uri] += (problem_of(problem, (problem.line or 1) - 1) for problem in problems)
        except SourceError:
            shown[opened.uris[0]] += (problem_of(problem, (problem.line or 1) - 1) for problem in problems)
        else:
            for problem in problems:
                uri, line = self._line(opened, source, problem)
                shown[uri].append(problem_of(problem, line))

    def _line(self, opened: Document | Notebook, source: Source, problem: Problem) -> tuple[str, int]:
        """Where a problem is: what of it the editor shows, and the line there, from 0."""
        if problem.cell is not None and isinstance(opened, Notebook):
            return opened.uri_of_cell(problem.cell), (problem.line or 1) - 1
        at = self._places.line(opened.path, source, problem.line or 1)
        return at.uri, at.range.start.line


def result_id(diagnostics: Sequence[types.Diagnostic]) -> str:
    """A name for these diagnostics, the same whenever they are."""
    plain = _CONVERTER.unstructure(list(diagnostics), list[types.Diagnostic])
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


_CONVERTER = converters.get_converter()
