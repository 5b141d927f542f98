"""How what is accumulated may go into the sum without its graph, in the order in which it is tried."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from autodetach.candidates.begun_otherwise import beginnings
from autodetach.candidates.counted import counted_without_graph, dicts_given, keywords_given
from autodetach.candidates.detaching import SHARED, element_candidates, is_handed_over
from autodetach.candidates.frozen_results import frozen_results
from autodetach.candidates.given_without_graph import given_without_graph
from autodetach.candidates.gradient_in_state import gradient_kept
from autodetach.candidates.growing_state import leaf_at_the_end
from autodetach.candidates.handed_back import is_step_of_shared_network
from autodetach.candidates.handed_to_sum import given_to_sum, handed_before
from autodetach.candidates.kept_before import kept_before
from autodetach.candidates.summed_values import values_summed
from autodetach.candidates.without_graph import computed_without_graph
from autodetach.machine.activations import pass_of
from autodetach.machine.cycles import cycle_of
from autodetach.machine.growth import Growth
from autodetach.machine.operands import expression_of
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Opaque, Tensor, Value
from autodetach.suspect import OF_UPDATES, Candidate
from autodetach.view.other_names import has_other_names
from autodetach.view.program import Program, text
from autodetach.view.targets import target_of


def repairs_of_sum(
    program: Program, growth: Growth, statement: ast.stmt, elements: list[tuple[ast.expr, object]]
) -> Iterator[Candidate]:
    """All that may be tried where `elements` are added by a `statement` in every pass, with their graphs."""
    yield from frozen_results(program, growth.run)
    if is_step_of_shared_network(program, growth):
        yield from computed_without_graph(program, growth)
        return
    moving = growth.node.op != "add" or not isinstance(growth.node.site.node, (ast.AugAssign, ast.BinOp))
    in_view = growth.activation.node is not None  # else it lives on an object, and may be read elsewhere as a tensor
    number = in_view and (growth.starts_as_number or (moving and not _in_place(growth)))
    number = number and not has_other_names(program, growth, target_of(statement) or statement)
    named = keywords_given(growth.node)
    if len(named) > 1:
        elements = [*named]
    if dicts := dicts_given(growth.node):
        yield from counted_without_graph(program, dicts, number=number)
        yield from element_candidates(program, given_to_sum(growth), number=number, what="hand over")
    elif elements:
        yield from _elements_detached(program, growth, elements, number=number)
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        # What is written into a part of a buffer may itself rest on earlier passes, as outputs of a recurrent net do.
        yield from element_candidates(program, [(statement.value, None)], number=False, what="write")
    if not elements:
        yield from values_summed(growth)
        yield from element_candidates(program, _leaves_taken(growth), number=False, what="accumulate")
    yield from _leaf_again(program, growth)
    if not elements:
        yield from leaf_at_the_end(program, growth)
    yield from gradient_kept(program, growth)
    if elements:
        yield from _beginnings_detached(program, growth, statement, elements, number=number)
    if not elements or isinstance(target_of(statement), ast.Name):
        yield from computed_without_graph(program, growth)


def _elements_detached(
    program: Program, growth: Growth, elements: list[tuple[ast.expr, object]], *, number: bool
) -> Iterator[Candidate]:
    """What is added, where it is added or where callers hand it over: there first if that is what is told of it."""
    what = "write" if growth.node.op == "__setitem__" else "accumulate"
    found = list(element_candidates(program, elements, number=number, what=what))
    usual = [candidate for candidate in found if not candidate.last_resort]
    given = given_to_sum(growth)
    over = list(element_candidates(program, given, number=number, what="hand over"))[:2] if given else []
    guarded = [candidate for candidate in over if candidate.last_resort]
    over = [candidate for candidate in over if not candidate.last_resort]
    over += [*handed_before(program, growth), *guarded]
    if any(is_handed_over(program, e) for e, _ in elements):
        yield from (*over, *usual)
    else:
        yield from (*usual, *over)
    yield from kept_before(program, growth)
    yield from given_without_graph(program, *elements[0]) if len(elements) == 1 else ()
    yield from (candidate for candidate in found if candidate.last_resort)


def _beginnings_detached(
    program: Program,
    growth: Growth,
    statement: ast.stmt,
    elements: list[tuple[ast.expr, object]],
    *,
    number: bool,
) -> Iterator[Candidate]:
    """What the sum begins with is attached, too: it stands in view, or comes from elsewhere, as a buffer by name."""
    begin = beginnings(program, growth, statement, spelled(target_of(statement) or statement))
    if seeds := [(expression, elements[0][1]) for expression in begin]:
        yield from element_candidates(program, [*elements, *seeds], number=number, what="begin with, and accumulate,")
    if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        for whole in element_candidates(program, [(statement.value, elements[0][1])], number=False, what="keep"):
            yield replace(whole, last_resort=True)
    elif earlier := _left_by_earlier_passes(growth):
        for cut in element_candidates(program, earlier, number=False, what="go on with"):
            yield replace(cut, last_resort=True)


def _leaves_taken(growth: Growth) -> list[tuple[ast.expr, Value]]:
    """The parameters that a pass adds as they are: `p` of `torch.lerp(average, p, 0.1)`, or `sum.mul_(0.9).add_(p)`."""
    found: dict[ast.expr, Value] = {}
    for parent in growth.node.parents:
        before = pass_of(parent.loops, growth.activation)
        cycle = [] if before is None or parent.leaf else cycle_of(parent, before, growth.node.site.node)
        for node in cycle:
            taken = [v for v in node.operands if isinstance(v, Tensor) and v.node is not None and v.node.leaf]
            found.update((e, v) for v in taken if (e := expression_of(node, v)) is not None and _is_read(e))
    return list(found.items())


def _left_by_earlier_passes(growth: Growth) -> list[tuple[ast.expr, Value]]:
    """The operands that link the passes: `cache["k"]` of `torch.cat([cache["k"], k])`, which begins with history."""
    node, now = growth.node, pass_of(growth.node.loops, growth.activation)
    made = [v for v in node.operands if isinstance(v, (Tensor, Opaque)) and v.node is not None and not v.node.leaf]
    earlier = [v for v in made if v.node is not None and pass_of(v.node.loops, growth.activation) is not now]
    return [(e, v) for v in earlier if (e := expression_of(node, v)) is not None and _is_read(e)]


def _is_read(expression: ast.expr) -> bool:
    return isinstance(getattr(expression, "ctx", ast.Load()), ast.Load)


def _leaf_again(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`w = w - lr * g`, where `torch.autograd.grad` gives `g`: the new weight is a leaf again, as it asks for one.

    If `g` has a graph of its own, which nothing walks, that one is not to be built.
    """
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.set_keyword import SetKeyword

    place = growth.node.site.node
    asked = [
        d
        for d in growth.run.machine.differentiations
        if d.kind == "grad" and any(p.activation is growth.activation for p in d.loops)
    ]
    calls = {d.call: SetKeyword(d.call, "create_graph", None) for d in asked if d.create_graph}
    if asked and isinstance(place, ast.BinOp) and isinstance(place.op, (ast.Add, ast.Sub)):
        new = ReplaceExpression(place, "({}).detach().requires_grad_()")
        message = f"make `{text(place)}` a leaf again"
        if calls:
            yield Candidate(f"{message}, and build no graph of its gradient", (new, *calls.values()), OF_UPDATES)
        is_shared = program.is_imported(place)  # other callers may have it change weights in place
        yield Candidate(message, (new,), OF_UPDATES if calls else SHARED if is_shared else None)


def _in_place(growth: Growth) -> bool:
    """Whether the total is a tensor that is changed in place: it must stay one."""
    is_changed = isinstance(growth.node.site.node, (ast.AugAssign, ast.Call))
    return is_changed or growth.node.op == "__setitem__"
