"""How what a container keeps may go in without its graph, in the order in which it is tried."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from autodetach.candidates.begun_in_method import begun_in_method
from autodetach.candidates.cleared_behind import cleared_behind
from autodetach.candidates.current_entry import current_entry
from autodetach.candidates.detaching import element_candidates, leaves_of_display, narrowed_to
from autodetach.candidates.emptied_behind_read import emptied_behind_read
from autodetach.candidates.extending import extending, joining, merging
from autodetach.candidates.frozen_results import frozen_results
from autodetach.candidates.gathered_parts import gathered_parts
from autodetach.candidates.given_without_graph import given_without_graph
from autodetach.candidates.gradient_by_hand import set_without_its_graph
from autodetach.candidates.hooks_of_objects import hooks_of_objects_removed
from autodetach.candidates.hooks_removed import hooks_removed
from autodetach.candidates.in_closures import detached_in_closures, keeping
from autodetach.candidates.let_go import let_go_behind
from autodetach.candidates.results_of_steps import made_of_values
from autodetach.candidates.set_in_records import set_without_graph
from autodetach.candidates.states_in_records import detached_parts
from autodetach.candidates.stored_copies import copied_whole, filled_without_graph, is_mixed
from autodetach.candidates.stored_too import stored_too
from autodetach.candidates.without_graph import computed_without_graph
from autodetach.machine.children import walk
from autodetach.machine.events import Stored
from autodetach.machine.growth import Growth
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word
from autodetach.machine.values import Sequence, Tensor, Value
from autodetach.suspect import Candidate
from autodetach.view.program import Program, handed, text
from autodetach.view.unread_attributes import holder_of


def repairs_of_store(program: Program, growth: Growth) -> Iterator[Candidate]:
    """All that may be tried where a container keeps one more graph in every pass."""
    stored = growth.stored
    assert stored is not None
    if growth.tails is not None:
        yield from emptied_behind_read(program, growth)
        return
    yield from frozen_results(program, growth.run)
    if stored.gradient_of is not None:
        yield from set_without_its_graph(program, growth)
        return
    if keeping(stored.value):
        yield from detached_in_closures(program, stored.value)
    yield from begun_in_method(program, growth)
    yield from gathered_parts(program, growth)
    yield from _at_the_store(program, growth, stored)
    yield from detached_parts(program, stored)
    keeper = growth.keeper
    if keeper is not None and keeper is not stored and isinstance(keeper.element, (ast.Name, ast.Attribute)):
        # What is put together here is used elsewhere, with its graph: only the copy that is kept goes without.
        yield from copied_whole(program, keeper.element, keeper.value)
    yield from set_without_graph(program, growth)
    yield from computed_without_graph(program, growth)
    yield from hooks_removed(program, growth)
    yield from hooks_of_objects_removed(program, growth)
    yield from cleared_behind(program, growth, holder_of(program, stored))
    yield from current_entry(program, program.statement(stored.site.node))
    yield from (replace(candidate, last_resort=True) for candidate in made_of_values(program, growth))
    yield from let_go_behind(program, growth)


def _at_the_store(program: Program, growth: Growth, stored: Stored) -> Iterator[Candidate]:
    """What is stored, changed there: `.item()` or `.detach()` of it, or of its parts."""
    element = stored.element
    assert element is not None
    # What an object keeps between calls from elsewhere may be read elsewhere, as a tensor.
    number = growth.activation.node is not None and not _is_changed_since(growth.run, stored)
    targets = [(narrowed_to(e, v), v) for e, v in leaves_of_display(element, stored.value)]
    if stored.how == "extend":
        yield from extending(program, stored, number=number)
    elif targets:
        yield from _leaves_detached(program, stored, element, targets, number=number)
    elif isinstance(element, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        yield from _object_detached(program, growth, stored, element)
    elif isinstance(element, (ast.Tuple, ast.List)) and isinstance(stored.value, Sequence):
        pairs = zip(element.elts, stored.value.items, strict=False)
        parts = [(e, v) for e, v in pairs if next(graph_in(v), None)]
        if len(parts) == 1 and isinstance(parts[0][0], (ast.Name, ast.Attribute, ast.Subscript)):
            yield from copied_whole(program, *parts[0])
    elif isinstance(element, ast.Dict):
        for key, each in zip(element.keys, element.values, strict=True):
            if key is None:
                yield from copied_whole(program, each, stored.value)


def _leaves_detached(
    program: Program, stored: Stored, element: ast.expr, targets: list[tuple[ast.expr, Value]], *, number: bool
) -> Iterator[Candidate]:
    """Tensors that stand in what is stored: here, everywhere they are stored, or where they are handed over."""
    yield from merging(program, stored)
    found = list(element_candidates(program, targets, number=number, what="store"))
    others = stored_too(program, element, holder_of(program, stored))
    if others:
        every = [*targets, *((e, stored.value) for e in others)]
        everywhere = element_candidates(program, every, number=number, what="store everywhere")
        yield from (candidate for candidate in everywhere if not candidate.last_resort)
    yield from (candidate for candidate in found if not candidate.last_resort)
    yield from (replace(candidate, last_resort=True) for candidate in _handed_over(stored))
    yield from given_without_graph(program, element, stored.tensor)
    yield from (candidate for candidate in found if candidate.last_resort)


def _object_detached(program: Program, growth: Growth, stored: Stored, element: ast.expr) -> Iterator[Candidate]:
    """A container or a record that is stored by its name, or made by a call."""
    if isinstance(stored.value, Sequence) and stored.value.items:
        yield from joining(element, stored.value.items[-1])
    mixed = is_mixed(stored.value)
    if mixed:
        yield from _handed_over(stored)
    yield from copied_whole(program, element, stored.value)
    yield from filled_without_graph(program, element, stored.value)
    yield from _built(program, stored, number=growth.activation.node is not None)
    if not mixed:
        yield from _handed_over(stored)


def _is_changed_since(run: Run, stored: Stored) -> bool:
    """Whether a tensor was changed in place after it was stored: what is stored shows that, and a number would not."""
    alike = (one for one in run.machine.stored if one.site.node is stored.site.node)
    return any(isinstance(one.tensor, Tensor) and one.tensor.storage.changes > one.version for one in alike)


def _built(program: Program, stored: Stored, *, number: bool) -> Iterator[Candidate]:
    """A record that is made elsewhere, `add(Record(step, loss))`, is made of the values."""
    value = stored.value
    if not isinstance(value, Instance):
        return
    expressions = (stored.element, *handed(stored.chain, value))
    given = [_only_value(program, e) if isinstance(e, ast.Name) else e for e in expressions]
    calls = [call for call in given if isinstance(call, ast.Call)]
    makers = [call for call in calls if last_word(call.func) == value.cls.name]
    for call in dict.fromkeys((*makers, *_only_construction(program, value), *calls)):
        targets = leaves_of_display(call, value)
        yield from element_candidates(program, targets, number=number, what="store") if targets else ()


def _only_construction(program: Program, value: Instance) -> Iterator[ast.Call]:
    """The call that makes objects of a class in view, if there is but one: `Record(loss)`, by whatever way it came."""
    if isinstance(value.cls, Class):
        nodes = (n for tree in program.analysis.trees for n in walk(tree) if isinstance(n, ast.Call))
        calls = [call for call in nodes if last_word(call.func) == value.cls.name]
        yield from calls if len(calls) == 1 else ()


def _only_value(program: Program, name: ast.Name) -> ast.expr | None:
    """What the one assignment to a local variable of a function gives it."""
    bound = [n for n in walk(program.scope(name)) if isinstance(n, ast.Name) and n.id == name.id]
    targets = [n for n in bound if not isinstance(n.ctx, ast.Load)]
    statement = program.parents.get(targets[0]) if len(targets) == 1 else None
    return statement.value if isinstance(statement, ast.Assign) else None


def _handed_over(stored: Stored) -> Iterator[Candidate]:
    """What a method takes as one of many (`*args`), or from others as a number, is detached where it is handed over."""
    from autodetach.codemods.append_method import AppendMethod

    given = next(handed(stored.chain, stored.tensor), None)
    if given is None:
        return
    message = f"hand over the value without its graph: `.detach()` on `{text(given)}`"
    yield Candidate(message, (AppendMethod(given, "detach"),))
    # The state of the step before has its graph, too.
    beside = (next(handed(stored.chain, tensor), None) for tensor in graph_in(stored.value))
    every = list(dict.fromkeys(e for e in beside if e is not None))
    if len(every) > 1:
        shown = " and ".join(f"`{text(e)}`" for e in every)
        message = f"hand over the values without their graph: `.detach()` on {shown}"
        yield Candidate(message, tuple(AppendMethod(e, "detach") for e in every))
