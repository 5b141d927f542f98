"""What was computed before a loop without steps, and is compared with what its passes compute by the same modules.

So it is with the old and the new log-probabilities of a policy whose batch is cut into parts, the gradients of which
are added up: kept, the graph of the old ones would be trained by each part, too, and against the new ones. And so it is
with what a network has said, and learned from, before smaller parts of it are to say the same: it is their teacher.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from autodetach.candidates.reads import at_read
from autodetach.candidates.taken_as_constant import taken_as_constant
from autodetach.machine.activations import diverge
from autodetach.machine.events import SecondWalk
from autodetach.machine.graph import Differentiation, Node, ancestors, calls_of
from autodetach.machine.operands import expression_of
from autodetach.machine.run import Run
from autodetach.machine.words import names_old, words_in
from autodetach.suspect import Candidate
from autodetach.view.by_call import at_call
from autodetach.view.computed_again import computed_again
from autodetach.view.crossings import Entry, entered_from, in_loop
from autodetach.view.program import Program, handed

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

MEANT = "the value may be meant as a constant, since what made it is run anew: only its author knows"


@dataclass(frozen=True, slots=True)
class OldValues:
    """The repairs that take values for constants. `are_told`: names, or a ratio, say that they are old ones."""

    repairs: tuple[Candidate, ...]
    are_told: bool


def old_values(program: Program, run: Run, event: SecondWalk) -> OldValues | None:
    """What the passes of a loop walk of the graph from before it, if they compute the same anew; else None.

    Where the first loss is differentiated before the loop, or there is no loop, what was made before that is meant.
    """
    apart, d = diverge(event.first.loops, event.second.loops), event.second
    if apart is not None:
        is_inside = in_loop(apart[0].activation)
    else:

        def is_inside(node: Node) -> bool:
            return node.number > event.first.number

    entries = list(entered_from(d, is_inside))
    outer = sorted((n for n in ancestors(maker for _, _, maker in entries) if not n.leaf), key=lambda n: n.number)
    here = at_call(run, d.call)
    trained = {leaf for s in run.machine.steps for leaf, ds in s.consumed if any(o in ds for o in here)}
    again = computed_again(run, d, is_inside, outer, trained)
    if not again:
        return None
    told = any(map(names_old, _names_of(entries))) or _is_ratio(d.walked, is_inside, set(outer), set(again))
    if apart is not None:
        return OldValues(tuple(taken_as_constant(program, run, entries, outer, MEANT)), told)
    others = _written_inside(run, d, is_inside)
    crossed = [(reader, operand, maker) for reader, operand, maker in entries if reader is not None]
    read = (Candidate(message, codemods, MEANT, cuts=True) for message, codemods in at_read(program, crossed))
    repairs = (*taken_as_constant(program, run, entries, outer, MEANT, others), *read)
    return OldValues(tuple(r for r in repairs if others.isdisjoint(map(_target, r.codemods))), told)


def _written_inside(run: Run, d: Differentiation, is_inside: Callable[[Node], bool]) -> set[ast.expr]:
    """The expressions that stand for what is walked of some part of the graph, as it is made, handed on and stored."""
    inside = {n for n in d.walked if is_inside(n)}
    found = {n.site.node for n in inside if isinstance(n.site.node, ast.expr)}
    for node in inside:
        for site in (node.site, *calls_of(node.chain)):
            found.update(e for e, value in site.operands if getattr(value, "node", None) in inside)
            found.update([site.node] if isinstance(site.node, ast.expr) else [])
    for event in run.machine.stored:
        if event.node in inside:
            found.update(handed(event.chain, event.tensor))
            found.update([event.element] if event.element is not None else [])
    return found


def _target(codemod: Codemod) -> ast.AST | None:
    return getattr(codemod, "expression", None)


def _names_of(entries: Iterable[Entry]) -> Iterator[str]:
    """The words by which a loop reads values from before it, in the functions that it hands them to as well."""
    for reader, operand, _ in entries:
        if reader is not None:
            handed = (e for site in calls_of(reader.chain) for e, value in site.operands if value is operand)
            for expression in (expression_of(reader, operand), *handed):
                yield from words_in(expression) if isinstance(expression, ast.expr) else ()


def _is_ratio(walked: Iterable[Node], is_inside: Callable[[Node], bool], outer: set[Node], again: set[Node]) -> bool:
    """Whether new values are divided by old ones: `exp(new - old)`, `new / old`."""
    inside = [n for n in walked if is_inside(n)]
    differences = (p for n in inside if n.op == "exp" for p in n.parents if p.op == "sub")
    for node in (*differences, *(n for n in inside if n.op == "div")):
        sides = [set(ancestors([parent])) for parent in node.parents]
        new = [not side.isdisjoint(again) for side in sides]
        old = [not side.isdisjoint(outer) for side in sides]
        if len(sides) == 2 and new != old and sorted(new) == sorted(old) == [False, True]:
            return True
    return False
