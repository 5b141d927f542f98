"""What was saved as it was is changed in place: a new tensor takes the changed values, in one place or in several."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice, product
from typing import TYPE_CHECKING

from autodetach.candidates.copied import written_copy
from autodetach.candidates.out_of_place import out_of_place
from autodetach.candidates.without_in_place import without_in_place
from autodetach.machine.events import StaleSaved
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

MOST = 8


def new_tensors(program: Program, run: Run, event: StaleSaved) -> Iterator[Candidate]:
    """Each way for the change that an event tells of, then those for all changes that its backward meets, together."""
    own = list(_ways(program, event))
    yield from own
    tried = {_places(way.codemods) for way in own}
    for earlier in (False, True):
        others = [ways for other in _others(run, event, earlier) if (ways := list(_ways(program, other)))]
        for group in islice(product(own, *others), MOST):
            doubt = next((way.doubt for way in group if way.doubt is not None), None)
            codemods = tuple(codemod for way in group for codemod in way.codemods)
            if _places(codemods) not in tried:
                tried.add(_places(codemods))
                yield Candidate("; ".join(way.message for way in group), codemods, doubt)


def _places(codemods: tuple[Codemod, ...]) -> frozenset[ast.AST | None]:
    """What is edited: several changes of one tensor have ways in common."""
    from autodetach.codemods import target_of

    return frozenset(target_of(codemod) for codemod in codemods)


def _ways(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    anew, copies = list(out_of_place(program, event)), written_copy(program, event)
    if any(way.doubt is not None for way in anew):
        yield from copies  # what holds a copy sees how that is changed
    yield from anew
    yield from without_in_place(program, event)
    yield from copies  # nothing more, if they came first


def _others(run: Run, event: StaleSaved, earlier: bool) -> list[StaleSaved]:
    """What else a backward walks that was changed since it was saved: PyTorch stops at the first.

    Of a tensor that was changed several times it is the last change, or also each that came `earlier`.
    """
    steps = {step.site.node for step in run.machine.steps}
    found = {event.changed.node: event}
    for node in event.by.walked:
        for storage, version in node.saved:
            for changed in storage.changed_since(version)[0 if earlier else -1 :]:
                if changed.node not in steps:
                    found.setdefault(changed.node, StaleSaved(node, storage, changed, event.by, ()))
    return list(found.values())[1:]
