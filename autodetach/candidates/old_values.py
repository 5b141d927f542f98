"""What was computed before a loop without steps, and is compared with what its passes compute by the same modules.

So it is with the old and the new log-probabilities of a policy whose batch is cut into parts, the gradients of which
are added up: kept, the graph of the old ones would be trained by each part, too, and against the new ones.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from autodetach.candidates.taken_as_constant import taken_as_constant
from autodetach.machine.events import SecondWalk
from autodetach.machine.graph import Activation, Node, ancestors, diverge, pass_of
from autodetach.machine.operands import expression_of
from autodetach.machine.run import Run
from autodetach.machine.words import names_old, words_in
from autodetach.suspect import Candidate
from autodetach.view.computed_again import computed_again
from autodetach.view.crossings import Entry, entered
from autodetach.view.program import Program, calls_of

MEANT = "the value may be meant as a constant, since every pass runs what made it anew: only its author knows"


@dataclass(frozen=True, slots=True)
class OldValues:
    """The repairs that take values for constants. `are_told`: names, or a ratio, say that they are old ones."""

    repairs: tuple[Candidate, ...]
    are_told: bool


def old_values(program: Program, run: Run, event: SecondWalk) -> OldValues | None:
    """What the passes of a loop walk of the graph from before it, if they compute the same anew; else None."""
    apart = diverge(event.first.loops, event.second.loops)
    if apart is None:
        return None
    activation, d = apart[0].activation, event.second
    entries = list(entered(d, activation))
    outer = sorted((n for n in ancestors(maker for _, _, maker in entries) if not n.leaf), key=lambda n: n.number)
    here = [o for o in run.machine.differentiations if o.call is d.call]
    trained = {leaf for s in run.machine.steps for leaf, ds in s.consumed if any(o in ds for o in here)}
    again = computed_again(run, d, activation, outer, trained)
    if not again:
        return None
    told = any(map(names_old, _names_of(entries))) or _is_ratio(d.walked, activation, set(outer), set(again))
    return OldValues(tuple(taken_as_constant(program, run, entries, outer, MEANT)), told)


def _names_of(entries: Iterable[Entry]) -> Iterator[str]:
    """The words by which a loop reads values from before it, in the functions that it hands them to as well."""
    for reader, operand, _ in entries:
        if reader is not None:
            handed = (e for site in calls_of(reader.chain) for e, value in site.operands if value is operand)
            for expression in (expression_of(reader, operand), *handed):
                yield from words_in(expression) if isinstance(expression, ast.expr) else ()


def _is_ratio(walked: Iterable[Node], activation: Activation, outer: set[Node], again: set[Node]) -> bool:
    """Whether new values are divided by old ones: `exp(new - old)`, `new / old`."""
    inside = [n for n in walked if pass_of(n.loops, activation) is not None]
    differences = (p for n in inside if n.op == "exp" for p in n.parents if p.op == "sub")
    for node in (*differences, *(n for n in inside if n.op == "div")):
        sides = [set(ancestors([parent])) for parent in node.parents]
        new = [not side.isdisjoint(again) for side in sides]
        old = [not side.isdisjoint(outer) for side in sides]
        if len(sides) == 2 and new != old and sorted(new) == sorted(old) == [False, True]:
            return True
    return False
