"""What is computed before a loop by the modules that the loop runs anew is taken for a constant: the old value."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from dataclasses import replace

from autodetach.candidates.acted import acted_without_graph
from autodetach.candidates.detached_where_built import detached_where_built
from autodetach.candidates.reads import at_read, is_part_of_what_is_read
from autodetach.candidates.stores import at_store, copied_in, stored_last
from autodetach.machine.graph import Node
from autodetach.machine.run import Run
from autodetach.suspect import Candidate
from autodetach.view.crossings import Entry
from autodetach.view.program import Program


def taken_as_constant(
    program: Program,
    run: Run,
    entries: list[Entry],
    outer: list[Node],
    doubt: str,
    others: Collection[ast.expr] = (),
) -> Iterator[Candidate]:
    """Detach the values that enter a loop where they are stored, built or read. `outer`: all that they are made of.

    `others` are expressions that stand for what the loop makes, too.
    """
    places = (*stored_last(run, outer, others), *copied_in(program, outer))
    stored = (Candidate(*repair, doubt) for repair in at_store(places))
    detached = detached_where_built(program, entries, doubt, because="")
    acted = acted_without_graph(program, run, [maker for _, _, maker in entries])
    for candidate in (*stored, *detached, *acted, *states_detached_where_read(program, entries, doubt)):
        yield replace(candidate, cuts=True)


def states_detached_where_read(program: Program, entries: list[Entry], doubt: str | None) -> Iterator[Candidate]:
    """Where what is made is no tensor, but a state of several: each is detached where the state is read."""
    crossed = [(node, operand, maker) for node, operand, maker in entries if node is not None and operand is not None]
    if any(is_part_of_what_is_read(node, operand) for node, operand, _ in crossed):
        for message, codemods in at_read(program, crossed):
            yield Candidate(message, codemods, doubt)
