"""What one program does with what the lines of its files make: what others say of these files may rest on that."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING

from autodetach.finding import Finding, edits_by_file
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import FUNCTIONS

if TYPE_CHECKING:
    from autodetach.machine.run import Analysis
    from autodetach.projects.project import Files
    from autodetach.source import Edit, Source


class Uses(NamedTuple):
    """Lines of one file, counted from 1: bit n is set for line n.

    `walked`: something is made there that the program differentiates, or a graph is retained that it walks again.
    `entered`: they stand in functions that the program does not call of its own accord. `off`: they stand in functions
    that it calls, or that are entry points, and each time with gradients off. `called`: they stand in functions that it
    calls of its own accord, and are run. `awaited`: what is stored there is differentiated behind that. `told`: a
    finding begins there. `mended`: a safe repair changes them.
    """

    walked: int = 0
    entered: int = 0
    off: int = 0
    called: int = 0
    awaited: int = 0
    told: int = 0
    mended: int = 0


def uses(analysis: Analysis, files: Files, findings: Collection[Finding]) -> dict[str, Uses]:
    """The uses of all files, by absolute path, the analysed one being the empty path. `findings` are those of all.

    `entered` is noted of the files that findings are in, since only what is told of these rests on it.
    """
    from autodetach.machine.entries import functions_of
    from autodetach.machine.graph import is_walked_again

    told = {finding.path for finding in findings}
    walked, entered, off, on, awaited, ran = (set[ast.AST]() for _ in range(6))
    for run in analysis.distinct:
        machine = run.machine
        walked.update(node.site.node for node in machine.nodes if node.walked_by)
        walked.update(d.call for d in machine.differentiations if d.retain and is_walked_again(d))
        awaited.update(e.site.node for e in machine.stored if any(d.number > e.clock for d in e.node.walked_by))
        entered.update(f.node for f in functions_of(machine) if f.qualname not in run.started)
        off |= machine.called_off
        on |= machine.called_on
        ran |= machine.executed
    walked_in, awaited_in = _by_file(files, _lines(walked)), _by_file(files, _lines(awaited))
    not_called = _by_file(files, _spans(entered))
    entered_in = {path: lines for path, lines in not_called.items() if path in told}
    on_in = _by_file(files, _spans(on))
    off_in = {path: lines & ~on_in.get(path, 0) for path, lines in _by_file(files, _spans(off)).items()}
    ran_in = _by_file(files, _own_lines(ran))
    called_in = {
        path: lines & ran_in.get(path, 0) & ~not_called.get(path, 0)
        for path, lines in _by_file(files, _spans(on | off)).items()
    }
    parts = walked_in, entered_in, off_in, called_in, awaited_in, *_repaired(files, findings)
    paths = dict.fromkeys(path for part in parts for path in part)
    return {path: Uses(*(part.get(path, 0) for part in parts)) for path in paths}


def _repaired(files: Files, findings: Iterable[Finding]) -> tuple[dict[str, int], dict[str, int]]:
    """The lines at which findings begin, and those that safe repairs change, by file."""
    told: dict[str, int] = {}
    mended: dict[str, int] = {}
    for finding in findings:
        source = files.sources[finding.path or files.root.path]
        told[finding.path] = told.get(finding.path, 0) | 1 << source.position(finding.span.start).line
        if finding.is_safe:
            for path, edits in edits_by_file(finding):
                mended[path] = mended.get(path, 0) | lines_of(edits, files.sources[path or files.root.path])
    return told, mended


def lines_of(edits: Iterable[Edit], source: Source) -> int:
    """The lines in which edits begin, as in `Uses`."""
    lines = 0
    for edit in edits:
        lines |= 1 << source.position(edit.start).line
    return lines


def _lines(places: Iterable[ast.AST]) -> set[tuple[int, int]]:
    return {(at, at) for at in (getattr(place, "lineno", 0) for place in places)}


def _own_lines(statements: Iterable[ast.AST]) -> set[tuple[int, int]]:
    """The first and last lines of statements, without those of the statements in them."""
    found = set()
    for node in statements:
        body = getattr(node, "body", None)
        first = getattr(node, "lineno", 0)
        last = body[0].lineno - 1 if isinstance(body, list) and body else getattr(node, "end_lineno", first)
        found.add((first, max(first, last)))
    return found


def _spans(functions: Iterable[ast.AST]) -> set[tuple[int, int]]:
    """The first and last lines of all but lambdas, whose calls are told by what stands around them."""
    return {(node.lineno, node.end_lineno or node.lineno) for node in functions if isinstance(node, FUNCTIONS)}


def _by_file(files: Files, spans: Iterable[tuple[int, int]]) -> dict[str, int]:
    """Lines as they are counted in the whole program, in the files in which they stand; see `Uses`."""
    found: dict[str, int] = {}
    for first, last in spans:
        module = files.module_at(first)
        path = "" if module.path == files.root.path else module.path
        lines = (1 << last - first + 1) - 1 << first - module.first
        found[path] = found.get(path, 0) | lines
    return found
