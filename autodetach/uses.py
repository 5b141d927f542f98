"""What one program does with what the lines of its files make: what others say of these files may rest on that."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from autodetach.machine.run import Analysis
    from autodetach.projects.project import Files


class Uses(NamedTuple):
    """Lines of one file, counted from 1: bit n is set for line n.

    `walked`: something is made there that the program differentiates, or a graph is retained that it walks again.
    `entered`: they stand in functions that the program does not call of its own accord. `off`: they stand in functions
    that it calls, or that are entry points, and each time with gradients off.
    """

    walked: int = 0
    entered: int = 0
    off: int = 0


def uses(analysis: Analysis, files: Files, told: Collection[str]) -> dict[str, Uses]:
    """The uses of all files, by absolute path, the analysed one being the empty path.

    `entered` is noted of the files that are `told` of, since only what is told of these rests on it.
    """
    from autodetach.machine.entries import functions_of
    from autodetach.machine.graph import is_walked_again

    walked, entered, off, on = (set[ast.AST]() for _ in range(4))
    for run in analysis.distinct:
        machine = run.machine
        walked.update(node.site.node for node in machine.nodes if node.walked_by)
        walked.update(d.call for d in machine.differentiations if d.retain and is_walked_again(d))
        if told:
            entered.update(f.node for f in functions_of(machine) if f.qualname not in run.started)
        off |= machine.called_off
        on |= machine.called_on
    walked_in = _by_file(files, {(at, at) for at in (getattr(place, "lineno", 0) for place in walked)})
    entered_in = {path: lines for path, lines in _by_file(files, _spans(entered)).items() if path in told}
    on_in = _by_file(files, _spans(on))
    off_in = {path: lines & ~on_in.get(path, 0) for path, lines in _by_file(files, _spans(off)).items()}
    return {
        path: Uses(walked_in.get(path, 0), entered_in.get(path, 0), off_in.get(path, 0))
        for path in {**walked_in, **entered_in, **off_in}
    }


def _spans(functions: Iterable[ast.AST]) -> set[tuple[int, int]]:
    """The first and last lines of all but lambdas, whose calls are told by what stands around them."""
    return {
        (node.lineno, node.end_lineno or node.lineno)
        for node in functions
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    }


def _by_file(files: Files, spans: Iterable[tuple[int, int]]) -> dict[str, int]:
    """Lines as they are counted in the whole program, in the files in which they stand; see `Uses`."""
    found: dict[str, int] = {}
    for first, last in spans:
        module = files.module_at(first)
        path = "" if module.path == files.root.path else module.path
        lines = (1 << last - first + 1) - 1 << first - module.first
        found[path] = found.get(path, 0) | lines
    return found
