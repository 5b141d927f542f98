"""What a pass stores is put together of what an inner loop has gathered for it: the parts go without their graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.detaching import element_candidates, has_graph
from autodetach.machine.activations import Pass, pass_of
from autodetach.machine.events import Stored
from autodetach.machine.graph import Node
from autodetach.machine.growth import Growth
from autodetach.machine.values import Value
from autodetach.suspect import Candidate
from autodetach.view.program import Program


def gathered_parts(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`fakes.append(fake.detach())` where `rows.append(torch.cat(fakes))` behind it keeps what each call has made.

    Without their graph what is put together has none, and while it is gathered no activation waits for it either.
    """
    now = pass_of(growth.node.loops, growth.activation)
    stored = growth.stored
    if stored is None or growth.dead or now is None:
        return
    scope = program.scope(stored.site.node)
    parts = _parts(growth, now)
    places: dict[ast.expr, Value] = {}
    for events in parts.values():
        for event in events:
            element, value = event.element, event.value
            if element is None or value is not event.tensor or not has_graph(value):
                return
            if program.scope(element) is not scope:
                return  # others may call the function that gathers them, and differentiate what it returns
            places[element] = value
    told = {g.stored.element for g in program.growths if g.stored is not None}
    if places and told.isdisjoint(places) and not _escape(growth, set(parts)):
        for candidate in element_candidates(program, list(places.items()), number=False, what="store"):
            if not candidate.last_resort:
                yield candidate


def _parts(growth: Growth, now: Pass) -> dict[Node, list[Stored]]:
    """What an inner loop has put into containers of a pass, if all graph of what this stores comes from there."""
    gathered: dict[Node, list[Stored]] = {}
    for event in growth.run.machine.stored:
        is_inner = now in event.loops and event.loops[-1] is not now and event.inner is None
        if is_inner and event.how == "append" and event.container.born >= now.started:
            gathered.setdefault(event.node, []).append(event)
    found: dict[Node, list[Stored]] = {}
    stack, seen = [growth.node], set[Node]()
    while stack:
        node = stack.pop()
        if node in seen:
            continue
        seen.add(node)
        if node in gathered:
            found[node] = gathered[node]
        elif node.leaf or now not in node.loops or not node.parents:
            return {}
        else:
            stack.extend(node.parents)
    return {} if growth.node in found else found


def _escape(growth: Growth, parts: set[Node]) -> bool:
    """Whether code out of view gets the parts by themselves, of which it may want the graph."""
    return any(not parts.isdisjoint(escape.nodes) for escape in growth.run.machine.escapes)
