"""What is built outside of a loop is detached where it is built."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.detaching import has_graph
from autodetach.machine.graph import Node, Site, ancestors, calls_of
from autodetach.machine.spelling import arguments_of
from autodetach.no_tensors import holds_others
from autodetach.suspect import Candidate
from autodetach.view.crossings import Entry
from autodetach.view.program import Program, listed


def detached_where_built(
    program: Program, entries: list[Entry], doubt: str | None, *, because: str
) -> Iterator[Candidate]:
    """Detach what is built outside, at the place where it is built; the message says `because` of what."""
    from autodetach.codemods.append_method import AppendMethod

    levels = [dict.fromkeys(level) for level in places_where_built(program, entries)]
    begins = {place: None for _, _, parent in entries for place in _where_graph_begins(parent)}
    for level in (*filter(None, levels), *([begins] if begins and begins not in levels else [])):
        shown = listed(level)
        codemods = tuple(AppendMethod(e, "detach") for e in level)
        yield Candidate(f"detach {shown}{because}", codemods, doubt, last_resort=level is begins)


def places_where_built(program: Program, entries: list[Entry]) -> list[dict[ast.expr, Node]]:
    """Where each is built, and what is built there: for each call that leads there, from the outermost to its own."""
    levels: list[dict[ast.expr, Node]] = []
    for _, _, parent in entries:
        sites = [parent.site, *calls_of(parent.chain)]
        for depth, site in enumerate(reversed(sites)):
            for place in _to_detach(program, site, parent):
                while len(levels) <= depth:
                    levels.append({})
                levels[depth][place] = parent
    return levels


def _where_graph_begins(made: Node) -> Iterator[ast.expr]:
    """In the function that made a node, the expressions that bring graph to it: what is made of them has none then."""
    depth = len(list(calls_of(made.chain)))
    for node in ancestors([made]):
        if node.leaf or not all(parent.leaf for parent in node.parents):
            continue
        sites = [*reversed(list(calls_of(node.chain))), node.site]
        place = sites[depth].node if depth < len(sites) else None
        if isinstance(place, ast.expr):
            yield place


def _to_detach(program: Program, site: Site, made: Node) -> Iterator[ast.expr]:
    """The expression of a call that led to a node; the arguments that brought graph if its value is dropped, or none.

    `enumerate(losses)` is no tensor.
    """
    place = site.node
    if not isinstance(place, ast.expr):
        return
    is_dropped = isinstance(program.parents.get(place), ast.Expr)
    if not isinstance(place, ast.Call) or not (is_dropped or holds_others(place)):
        yield place
        return
    behind = set(ancestors([made]))
    given = set(arguments_of(place))
    for expression, value in site.operands:
        if expression in given and has_graph(value) and getattr(value, "node", None) in behind:
            yield expression
