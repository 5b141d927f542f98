"""What an edited program does that Python or PyTorch refuses, beside what the first one did."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import dataclass
from itertools import islice

from autodetach.machine.events import MAX_LOOKED_AT, GraphRead
from autodetach.machine.graph import ancestors
from autodetach.machine.run import Analysis
from autodetach.view.program import place_text


@dataclass(frozen=True, slots=True)
class Faults:
    """What a program does that Python or PyTorch refuses, and the numbers that go where a tensor may be wanted."""

    kinds: tuple[set[tuple[str, str]], ...]
    escaping: Counter[str]


def known_faults(analysis: Analysis) -> Faults:
    """All of them, of all paths."""
    return Faults(tuple(kind(analysis) for kind in KINDS), _escaping(analysis))


def new_faults(before: Faults, after: Analysis, *, numbers: bool) -> str | None:
    """What the edited program does that Python or PyTorch refuses and the first one did not do, or None.

    With `numbers`, also whether a number that the edit made goes where a tensor may be wanted: to code that is not in
    view, or where Python computes otherwise.
    """
    for kind, known in zip(KINDS, before.kinds, strict=True):
        more = kind(after) - known
        if more:
            return f"another error comes: {sorted(more)[0]}"
    if numbers and _escaping(after) - before.escaping:
        return "the number goes where a tensor may be wanted"
    return None


def _errors(analysis: Analysis) -> set[tuple[str, str]]:
    """What PyTorch would raise, by its kind and the place of the differentiation."""
    found: set[tuple[str, str]] = set()
    for run in analysis.distinct:
        found |= {("second walk", place_text(e.second.call.func)) for e in run.machine.second_walks}
        found |= {("changed in place", place_text(e.by.call.func)) for e in run.machine.stale}
    return found


def _possible(analysis: Analysis) -> set[tuple[str, str]]:
    """Where a second walk comes to a value of which nobody knows whether it has history, and the first freed it then.

    That proves no fault. But a repair that retains a graph no more, where it was retained, may bring the error about.
    """
    found: set[tuple[str, str]] = set()
    for run in analysis.distinct:
        for node in run.machine.nodes:
            if node.weak and not node.leaf and len(node.walked_by) > 1 and (node.saves or not node.parents):
                first, *later = node.walked_by
                if not first.retain:
                    found |= {("perhaps a second walk", place_text(d.call.func)) for d in later}
    return found


def _read_freed(analysis: Analysis) -> set[tuple[str, str]]:
    """Where nodes are read by way of `.grad_fn` that have freed what they saved: PyTorch raises if asked for that."""
    return {
        ("what is freed is read", place_text(fact.site.node))
        for run in analysis.distinct
        for fact in run.machine.facts
        if isinstance(fact, GraphRead) and not fact.asked
        if any(n.saves and n.freed_by for n in islice(ancestors(fact.nodes), MAX_LOOKED_AT))
    }


def _refused(analysis: Analysis) -> set[tuple[str, str]]:
    return {(f.kind, f.text) for run in analysis.distinct for f in run.machine.type_faults}


def _escaping(analysis: Analysis) -> Counter[str]:
    """The places that read such numbers, by their texts: of one that is there, the edit may have made another."""
    tags = {tag for run in analysis.distinct for escape in run.machine.escapes for tag in escape.tags}
    return Counter(place_text(tag) for tag in tags if isinstance(tag, ast.AST))


KINDS = (_errors, _possible, _read_freed, _refused)
