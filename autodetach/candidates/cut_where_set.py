"""A state is cut off where it is given its name: `self.u = u.detach()` in a layer, `Track(ident, feat.detach())`.

Of many objects, only what sets their state does so for each of them, however many there are.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator

from autodetach.candidates.cover import is_bound_first
from autodetach.candidates.detaching import leaves_of_display
from autodetach.candidates.kept_for_copy import Kept, as_written, detached
from autodetach.candidates.perhaps_none import is_perhaps_none
from autodetach.candidates.reads import Repair
from autodetach.candidates.states_in_records import given_to
from autodetach.machine.activations import Activation, diverge
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.events import AttributeSet
from autodetach.machine.graph import Node
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Class
from autodetach.machine.run import Run
from autodetach.machine.spelling import arguments_of, is_none
from autodetach.machine.values import Sequence, Value
from autodetach.node_types import FUNCTIONS
from autodetach.view.assigned import assigned
from autodetach.view.by_name import calls_in_view
from autodetach.view.crossings import Crossed
from autodetach.view.holders import Holder, Replay
from autodetach.view.program import Program, listed
from autodetach.view.steps_between import stepped_between


def cut_in_objects(program: Program, run: Run, makers: Iterable[Node]) -> Iterator[Repair]:
    """Detach what objects of classes in view are given under a name, in all places that give them something there."""
    settings = _settings(run, set(makers))
    kept: dict[ast.expr, Kept] = {}
    for setting in settings or ():
        one = as_written(program, setting) or _as_constructed(program, setting)
        if one is None or _may_be_none(program, one.value):
            return
        kept[one.value] = one
    every = [list(detached(one)) for one in kept.values()]
    if all(every) and every and not any(map(program.is_imported, kept)):
        shown = listed(kept)
        yield f"detach {shown} where it is set", tuple(codemod for codemods in every for codemod in codemods)


def cut_where_bound(
    program: Program, run: Run, again: Replay, loop: Activation, crossed: list[Crossed]
) -> Iterator[Repair]:
    """Detach what variables of the loop are given in it."""
    from autodetach.codemods.append_method import AppendMethod

    places: dict[ast.expr, None] = {}
    for _, operand, _ in crossed:
        named = (h for h in again.of(operand) if h.text.isidentifier())
        holder = next((h for h in named if not is_bound_first(program, loop.node, h.text)), None)
        found = None if holder is None else _bound(program, run, loop, holder)
        if not found:
            return
        places.update(dict.fromkeys(found))
    if places:
        yield f"detach {listed(places)} where it is set", tuple(AppendMethod(e, "detach") for e in places)


def is_deep(holder: Holder) -> bool:
    """Whether the state is a matter of an object inside of others: `tracks[0].feat`, `fit.ot.f`, not `layer.h`."""
    return "[" in holder.text or holder.text.count(".") > 1


def is_shared_in_pass(run: Run, makers: Collection[Node], cut: Collection[ast.AST | None]) -> bool:
    """Whether losses of one pass walk the state, too, one behind the step of the other; `cut` is what sets it.

    What cuts the state off at the end of a pass leaves that as it is.
    """
    nodes = _set_under_names(run, makers)
    for event in run.machine.second_walks:
        first, second = event.first, event.second
        if diverge(first.loops, second.loops) is None and stepped_between(run, first, second):
            entered = [p for n in second.walked if n.number > first.number for p in n.parents if p in first.walked]
            if any(p in nodes or p.site.node in cut for p in entered):
                return True
    return False


def is_for_later(run: Run, makers: Collection[Node]) -> bool:
    """Whether no loss of the pass that has made what objects are given comes to it."""
    nodes = _set_under_names(run, makers)
    return not any(diverge(n.loops, d.loops) is None for n in nodes for d in n.walked_by)


def _set_under_names(run: Run, makers: Collection[Node]) -> set[Node]:
    named = _names(run, set(makers))
    settings = [s for s in run.machine.attributes_set if (s.owner.cls, s.name) in named]
    return {t.node for s in settings for t in graph_in(s.value) if t.node is not None}


def _names(run: Run, makers: set[Node]) -> set[tuple[object, str]]:
    """The classes and names under which their objects are given what some nodes have made."""
    settings = run.machine.attributes_set
    return {(s.owner.cls, s.name) for s in settings if any(t.node in makers for t in graph_in(s.value))}


def _settings(run: Run, makers: set[Node]) -> list[AttributeSet]:
    """What gives objects the state, wherever it is made; none if some of the makers are set nowhere."""
    named = _names(run, makers)
    every = [s for s in run.machine.attributes_set if (s.owner.cls, s.name) in named]
    known = {t.node for s in every for t in graph_in(s.value)}
    return every if makers <= known and all(isinstance(s.owner.cls, Class) for s in every) else []


def _as_constructed(program: Program, setting: AttributeSet) -> Kept | None:
    """What a call is given that makes a record, for one of its fields."""
    call = setting.site.node
    given = given_to(call, setting.owner).get(setting.name) if isinstance(call, ast.Call) else None
    return None if given is None else Kept(given, setting.value, program.statement(call))


def _may_be_none(program: Program, value: ast.expr) -> bool:
    """Whether it is a name that is a constant by default, or that a call in view gives None: `self.set(None)`."""
    if isinstance(value, ast.IfExp):
        return is_none(value.body) or is_none(value.orelse)
    if not isinstance(value, ast.Name):
        return False
    scope = program.scope(value)
    is_given = isinstance(scope, FUNCTIONS) and value.id in all_parameter_names(scope.args)
    calls = calls_in_view(program, scope.name) if is_given and isinstance(scope, FUNCTIONS) else ()
    return is_perhaps_none(program, value) or any(is_none(given) for call in calls for given in arguments_of(call))


def _bound(program: Program, run: Run, loop: Activation, holder: Holder) -> list[ast.expr]:
    """What stands for the tensors in the statements of a loop that bind a variable; none if one cannot be told."""
    function, module = holder.frame.function, holder.frame.module
    scope = function.node if function is not None else module.tree if module is not None else None
    found: list[ast.expr] = []
    for statement in walk(scope) if scope is not None else ():
        if loop.node is None or loop.node not in program.enclosing(statement):
            continue
        for target, value in assigned(statement):
            if holder.text not in program.names_bound(target):
                continue
            parts = _parts(run, value, holder.value) if isinstance(target, ast.Name) else []
            if not parts:
                return []
            found += parts
    return found


def _parts(run: Run, expression: ast.expr, value: Value) -> list[ast.expr]:
    if not isinstance(value, Sequence):
        return [expression] if any(n.site.node is expression for n in run.machine.nodes) else []
    places = [e for e, _ in leaves_of_display(expression, value)]
    return [] if any(isinstance(e, (ast.Constant, ast.Starred)) for e in places) else places
