"""Whether what a program reads of graphs is the same after an edit.

By way of `.grad_fn` it may draw a graph, or walk it, and `.requires_grad` and its like tell whether there is one.
"""

from __future__ import annotations

import ast
from itertools import islice

from autodetach.machine.events import MAX_LOOKED_AT, FlagRead, GraphRead
from autodetach.machine.graph import ancestors
from autodetach.machine.run import Run
from autodetach.proving.ways import name_of
from autodetach.view.program import place_text

Drawn = dict[str, set[tuple[str, str]]]
ANY = ("any", "")


def is_drawn_otherwise(before: Run, after: Run) -> bool:
    """Whether some of the operations that a place has found in a graph are not found there any more."""
    old = _drawn(before)
    new = _drawn(after) if old else {}
    return any(operations - new.get(place, set()) for place, operations in old.items())


def is_told_otherwise(before: Run, after: Run) -> bool:
    """Whether a place that asks tensors for their flags has no longer all the answers that it had."""
    old = _answers(before)
    new = _answers(after) if old else {}
    for place, answers in old.items():
        found = new.get(place, [])
        if len(found) != len(answers):  # some are edited, nobody knows which
            answers, found = [set().union(*answers)], [set().union(*found)] if found else answers
        if any(not a <= b for a, b in zip(answers, found, strict=False)):
            return True
    return False


def _answers(run: Run) -> dict[tuple[str, str], list[set[bool]]]:
    """By the text of a place, what each that is spelled so was told, from top to bottom."""
    found: dict[ast.AST, tuple[FlagRead, set[bool]]] = {}
    for fact in run.machine.facts:
        if isinstance(fact, FlagRead):
            found.setdefault(fact.site.node, (fact, set()))[1].add(fact.answer)
    places: dict[tuple[str, str], list[set[bool]]] = {}
    for node in sorted(found, key=lambda n: (getattr(n, "lineno", 0), getattr(n, "col_offset", 0))):
        fact, answers = found[node]
        places.setdefault((place_text(node), fact.name), []).append(answers)
    return places


def _drawn(run: Run) -> Drawn:
    """The operations behind `.grad_fn`, by the place that reads it; of what is only asked for, that there are any."""
    found: Drawn = {}
    for fact in run.machine.facts:
        if isinstance(fact, GraphRead):
            operations = found.setdefault(place_text(fact.site.node), set())
            if fact.asked:
                operations.update((ANY,) if fact.node is not None and not fact.node.leaf else ())
            else:
                operations.update(name_of(n) for n in islice(ancestors(fact.nodes), MAX_LOOKED_AT) if not n.leaf)
    return found
