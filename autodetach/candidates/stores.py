"""Detaching a value where a container takes it: it feeds no loss of its own pass through that."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING

from autodetach.candidates.detaching import leaves_of_display, structural
from autodetach.candidates.reads import Repair
from autodetach.machine.children import walk
from autodetach.machine.events import Stored
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word, spelled
from autodetach.view.crossings import Crossed
from autodetach.view.program import Program, handed, listed, text

if TYPE_CHECKING:
    from autodetach.codemods import Codemod


def at_store(expressions: Iterable[ast.expr]) -> Iterator[Repair]:
    """Detach what stands for the tensors where they are stored."""
    from autodetach.codemods.append_method import AppendMethod

    elements = list(dict.fromkeys(expressions))
    if elements:
        shown = listed(elements)
        yield f"detach {shown} where it is stored", tuple(AppendMethod(e, "detach") for e in elements)


def at_one_store(program: Program, expressions: Iterable[ast.expr]) -> Iterator[Repair]:
    """Detach in one of several statements that store a state, the last first: another one keeps what its loss reads."""
    groups: dict[ast.stmt, list[ast.expr]] = {}
    for expression in expressions:
        statement = program.statement(expression)
        if statement is not None:
            groups.setdefault(statement, []).append(expression)
    if len(groups) > 1:
        for last in sorted(groups, key=lambda s: s.lineno, reverse=True):
            yield from at_store(groups[last])


def stored_operands(run: Run, crossed: list[Crossed]) -> Iterator[tuple[Stored, ast.expr]]:
    """Where operands of earlier passes were put into containers, and the expression that stands for them there."""
    makers = {maker for _, _, maker in crossed}
    yield from operands_of(event for event in run.machine.stored if event.node in makers)


def operands_of(events: Iterable[Stored]) -> Iterator[tuple[Stored, ast.expr]]:
    """What was put into containers, and the expressions that stand for it there."""
    for event in events:
        if event.how not in ("append", "key", "new key") or event.element is None:
            continue
        leaves = leaves_of_display(event.element, event.value)
        found = [e for e, value in leaves if value is event.tensor and not isinstance(e, ast.Starred)]
        for element in found or islice(handed(event.chain, event.tensor), 1):
            yield event, element


def at_key(program: Program, run: Run, crossed: list[Crossed], tried: Iterable[ast.expr]) -> Iterator[Repair]:
    """Detach all of what `states[user] = state` keeps, where that is put under its key, if not `tried` so."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    makers = {maker for _, _, maker in crossed}
    edits: dict[ast.expr, Codemod] = {}
    for event in run.machine.stored:
        element = event.element
        if event.how not in ("key", "new key") or event.node not in makers or not _is_under_key(program, element):
            continue
        new = structural("{}", event.value)
        if element is None or new is None:
            return
        edits[element] = ReplaceExpression(element, new)
    if edits and set(edits) != set(tried):
        yield f"detach {', '.join(f'`{text(e)}`' for e in edits)} where it is stored", tuple(edits.values())


def _is_under_key(program: Program, element: ast.expr | None) -> bool:
    """Whether a value that has a name is put under a key that is computed."""
    statement = program.parents.get(element) if isinstance(element, (ast.Name, ast.Attribute)) else None
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return any(isinstance(t, ast.Subscript) and not isinstance(t.slice, ast.Constant) for t in targets)


def stored_last(run: Run, nodes: Iterable[Node], others: Collection[ast.expr] = ()) -> list[ast.expr]:
    """What containers take of the nodes that no other stored one rests on; none if one has no expression.

    It is not written as one of the `others`, which stand for what keeps its graph.
    """
    made = set(nodes)
    events = [event for event in run.machine.stored if event.node in made and event.how != "made"]
    stored = {event.node for event in events}
    places: list[ast.expr] = []
    for event in events:
        if stored.isdisjoint(ancestors(event.node.parents)):
            element = event.element
            elements = leaves_of_display(element, event.value) if element is not None else []
            given = [*(e for e, value in elements if value is event.tensor), *handed(event.chain, event.tensor)]
            given = [e for e in given if e not in others]
            if not given:
                return []
            places.append(given[-1])
    return places


def copied_in(program: Program, nodes: Iterable[Node]) -> Iterator[ast.expr]:
    """What `rows[i].copy_(value)` and `rows[i] = value` write into tensors that have been there before.

    Other branches may write the same to other places: as a queue is filled where it wraps around.
    """
    for node in nodes:
        place = node.site.node
        if node.op == "copy_slices" and isinstance(place, ast.Call) and last_word(place.func) == "copy_":
            yield from place.args[:1]
        elif node.op == "__setitem__" and isinstance(statement := program.parents.get(place), ast.Assign):
            yield statement.value
            yield from _written_alike(program, statement)


def first_copied_in(program: Program, nodes: Iterable[Node]) -> Iterator[ast.expr]:
    """Of what is `copied_in`, that which is made of no other: rewards, where returns are computed of these later."""
    written = [(node, places) for node in nodes if (places := list(copied_in(program, [node])))]
    writes = {node for node, _ in written}
    for node, places in written:
        if writes.isdisjoint(_until(node.site.node, node)):
            yield from places


def _until(place: ast.AST, node: Node) -> set[Node]:
    """What a node is made of, without what the same place has written before."""
    found: set[Node] = set()
    queue = [node]
    while queue:
        parents = queue.pop().parents
        new = [p for p in parents if p not in found and (p.site.node is not place or p.op == "copy")]
        found.update(new)
        queue += new
    return found


def at_addition(nodes: Iterable[Node]) -> Iterator[Repair]:
    """Detach what `self.weight += delta` and `self.weight.sub_(delta)` take into tensors that were there before."""
    from autodetach.codemods.append_method import AppendMethod

    added: dict[ast.expr, None] = {}
    for node in nodes:
        place = node.site.node
        if isinstance(place, ast.AugAssign):
            added[place.value] = None
        elif isinstance(place, ast.Call) and last_word(place.func) in ("add_", "sub_"):
            added.update(dict.fromkeys(place.args[:1]))
    if added:
        shown = listed(list(added))
        yield f"detach {shown} where it is added in place", tuple(AppendMethod(e, "detach") for e in added)


def _written_alike(program: Program, statement: ast.Assign) -> Iterator[ast.expr]:
    """The values of other statements of a function that write the same into the same."""
    written = _bases(statement), spelled(statement.value)
    others = (n for n in walk(program.scope(statement)) if isinstance(n, ast.Assign) and n is not statement)
    yield from (other.value for other in others if (_bases(other), spelled(other.value)) == written)


def _bases(statement: ast.Assign) -> list[str]:
    """What is written into, as a text: `queue` of `queue[at]`."""
    return [spelled(target.value) if isinstance(target, ast.Subscript) else "" for target in statement.targets]


def fills_a_place(program: Program, node: Node) -> bool:
    """Whether a write goes to a place that moves, `queue[at : at + n] = rows`, as into a memory of many passes."""
    statement = program.parents.get(node.site.node)
    if node.op != "__setitem__" or not isinstance(statement, ast.Assign):
        return False
    indices = [target.slice for target in statement.targets if isinstance(target, ast.Subscript)]
    return any(isinstance(n, (ast.Name, ast.Attribute)) for index in indices for n in ast.walk(index))
