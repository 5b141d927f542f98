"""What a memory takes whole, as `(state, value)`, is detached where the function that makes it returns it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.detaching import leaves_of_display
from autodetach.machine.children import walk
from autodetach.machine.events import Stored
from autodetach.machine.graph import calls_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word
from autodetach.node_types import FUNCTIONS
from autodetach.view.crossings import Crossed
from autodetach.view.program import Program

ADDED = ("append", "key", "new key")


def where_returned(program: Program, run: Run, crossed: list[Crossed]) -> list[ast.expr]:
    """What stands for the tensors in the `return` of functions whose results go nowhere else than into containers.

    None where one of the tensors comes there in another way.
    """
    makers = {maker for _, _, maker in crossed}
    stored = [event for event in run.machine.stored if event.node in makers]
    if {event.node for event in stored} != makers:
        return []
    places: dict[ast.expr, None] = {}
    for event in stored:
        place = next(_returned(program, event), None)
        function = None if place is None else program.scope(place)
        if place is None or program.is_imported(place) or not _is_only_kept(program, function, stored):
            return []
        places[place] = None
    return list(places)


def _returned(program: Program, event: Stored) -> Iterator[ast.expr]:
    """What stands for the tensor in the only `return` of a call, that was open when it was made, which gives it."""
    if event.how not in ADDED:
        return
    here = program.scope(event.site.node)
    sites = [event.node.site, *calls_of(event.node.chain)]
    for scope in dict.fromkeys(program.scope(site.node) for site in sites):
        if not isinstance(scope, FUNCTIONS) or scope is here:
            continue
        returns = [n for n in walk(scope) if isinstance(n, ast.Return) and program.scope(n) is scope and n.value]
        found = [place for one in returns for place in _parts(one, event)]
        if len(found) == 1:
            yield found[0]


def _parts(returned: ast.Return, event: Stored) -> list[ast.expr]:
    value = returned.value
    if value is None:
        return []
    if isinstance(value, ast.Call) and event.node.site.node in value.args:
        return [a for a in value.args if a is event.node.site.node]
    leaves = leaves_of_display(value, event.value)
    return [e for e, held in leaves if held is event.tensor and e is not value and not isinstance(e, ast.Starred)]


def _is_only_kept(program: Program, function: ast.AST | None, stored: list[Stored]) -> bool:
    """Whether all that mentions a function calls it for what containers take, and does not look into that before."""
    name = getattr(function, "name", "")
    nodes = (n for tree in program.analysis.trees for n in walk(tree))
    mentions = [n for n in nodes if isinstance(n, ast.expr) and last_word(n) == name]
    calls = [program.parents.get(n) for n in mentions]
    return bool(calls) and all(
        isinstance(call, ast.Call) and last_word(call.func) == name and _is_handed_on(program, call, stored)
        for call in calls
    )


def _is_handed_on(program: Program, call: ast.Call, stored: list[Stored]) -> bool:
    """Whether a container takes what a call gives, at once or under a name that is only asked whether it is None."""
    elements = {event.element for event in stored}
    if call in elements:
        return True
    statement, scope = program.parents.get(call), program.scope(call)
    if not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return False
    (target,) = statement.targets
    if not isinstance(target, ast.Name):
        return False
    reads = [n for n in walk(scope) if isinstance(n, ast.Name) and n.id == target.id and isinstance(n.ctx, ast.Load)]
    return any(n in elements for n in reads) and all(n in elements or _is_asked(program, n) for n in reads)


def _is_asked(program: Program, read: ast.Name) -> bool:
    """`if pair is not None`, `if pair`."""
    around = program.parents.get(read)
    if isinstance(around, ast.Compare):
        return all(isinstance(op, (ast.Is, ast.IsNot)) for op in around.ops)
    return isinstance(around, (ast.If, ast.While)) and around.test is read
