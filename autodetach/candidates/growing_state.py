"""A state that each pass computes from the one before, and that nothing differentiates: its graph grows for ever."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from autodetach.finding import NEVER_DIFFERENTIATED, Severity, StoryStep
from autodetach.machine.activations import Pass, pass_of
from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.machine.growth import Growth, is_returned
from autodetach.machine.operands import expression_of
from autodetach.machine.program_values import Frame
from autodetach.named_tuples import NamedTuple
from autodetach.suspect import OF_UPDATES, Candidate, Suspect
from autodetach.view.crossings import Crossed, crossed_operands
from autodetach.view.program import Program, line, listed, observed_of, text

if TYPE_CHECKING:
    from autodetach.candidates.reads import Repair
    from autodetach.view.holders import Replay

UNREACHED = "an optimizer steps what it is computed with, though no gradient comes there: that may be the fault"


def growing_state(program: Program, growth: Growth) -> Suspect:
    """The suspect of a chain of nodes that gets a further link in every pass."""
    from autodetach.candidates.handed_back import with_doubt

    node = growth.node
    now = pass_of(node.loops, growth.activation)
    crossed = [operand for _, operand, _ in crossed_operands(node, now)] if now is not None else []
    outside = (o for o in node.operands if (n := getattr(o, "node", None)) is not None and n.loops is not node.loops)
    operand = crossed[0] if crossed else next(outside, None)
    expression = expression_of(node, operand) if operand is not None else None
    state = text(expression) if expression is not None else "a state"
    story = (
        StoryStep(line(node.site), f"every pass computes the next `{state}` from the one before, with its graph"),
        StoryStep(line(node.site), NEVER_DIFFERENTIATED),
    )
    return Suspect(
        ("AD302", node.site.scope, program.spot(node.site.node)),
        node.site.node,
        f"the graph of `{state}` grows with every pass",
        Severity.ERROR,
        story,
        growth.certain,
        (),
        lambda: with_doubt(program, growth, _candidates(program, growth)),
        observed=observed_of(program, (node,)),
    )


class _Again(NamedTuple):
    """The run once more, up to where the chain gets its link: that link, its pass, and what crosses into that."""

    run: Replay
    node: Node
    now: Pass
    crossed: list[Crossed]


def _again(program: Program, growth: Growth) -> _Again | None:
    from autodetach.view.holders import replay, twin_activation

    now = pass_of(growth.node.loops, growth.activation)
    if now is None:
        return None
    again = replay(program, growth.run, growth.activation, now.index)
    same = next((n for n in again.machine.nodes if n.number == growth.node.number), None)
    same_now = pass_of(same.loops, twin_activation(again.machine, now)) if same is not None else None
    if same is None or same_now is None:
        return None
    return _Again(again, same, same_now, list(crossed_operands(same, same_now)))


def _candidates(program: Program, growth: Growth) -> Iterator[Candidate]:
    """A chain that nothing differentiates: detach it at the end of the pass, or where it is read.

    If an imported file has the loop, and hands back what it makes, others may train through that: the caller, which
    does not, first does without a graph.
    """
    from autodetach.candidates.handed_back import is_in_imported_loop
    from autodetach.candidates.reads import at_read
    from autodetach.candidates.truncation import truncated, truncated_if_any
    from autodetach.candidates.without_graph import called_without_graph, computed_without_graph
    from autodetach.view.moments import moment

    frame = growth.activation.frame if is_in_imported_loop(program, growth) else None
    if isinstance(frame, Frame) and is_returned(growth.run, growth.node, frame):
        yield from called_without_graph(program, growth)
    now, again = pass_of(growth.node.loops, growth.activation), _again(program, growth)
    if now is None or again is None:
        return
    found = truncated(program, again.run, moment(again.node), growth.activation, again.crossed)
    if again.node.at is not None and again.node.at[1] is not again.now.activation.frame:
        # What a cell returns is not to be cut where it is written.
        found = iter([*at_read(program, again.crossed), *found])
    unreached = UNREACHED if _is_to_be_trained(growth) else None
    for message, codemods in (*_where_stored(program, growth, now), *found):
        yield Candidate(message, codemods, unreached, keeps=True)
    for message, codemods in truncated_if_any(program, again.run, moment(again.node), growth.activation, again.crossed):
        yield Candidate(message, codemods, unreached, keeps=True, last_resort=True)
    if _asked(growth):
        yield from _leaf_again(program, again.crossed, _doubt_of_leaf(program, growth))
        yield from _leaf_at_the_end(program, growth, again)
    elif unreached is None:
        for candidate in computed_without_graph(program, growth):
            yield replace(candidate, keeps=True)


def leaf_at_the_end(program: Program, growth: Growth) -> Iterator[Candidate]:
    """What `torch.autograd.grad` is asked about in every pass is a leaf again at the end of the pass.

    Where a method makes the next state, it is cut by the loop that calls it: others train through what it has made.
    """
    again = _again(program, growth) if _asked(growth) else None
    if again is not None:
        yield from _leaf_at_the_end(program, growth, again)


def _leaf_at_the_end(program: Program, growth: Growth, again: _Again) -> Iterator[Candidate]:
    from autodetach.candidates.truncation import leaves_again
    from autodetach.view.moments import called_by, moment

    doubt = _doubt_of_leaf(program, growth)
    made = moment(again.node)
    called = called_by(made, again.now.activation)
    for at in [made] if called is None else [made, called]:
        for message, codemods in leaves_again(program, again.run, at, growth.activation, again.crossed):
            yield Candidate(message, codemods, doubt, keeps=True)


def _asked(growth: Growth) -> list[Differentiation]:
    """The calls of `torch.autograd.grad` in the loop."""
    differentiations = growth.run.machine.differentiations
    return [d for d in differentiations if d.kind == "grad" and pass_of(d.loops, growth.activation) is not None]


def _doubt_of_leaf(program: Program, growth: Growth) -> str | None:
    from autodetach.candidates.detaching import SHARED

    is_shared = program.is_imported(growth.node.site.node)
    return OF_UPDATES if any(d.create_graph for d in _asked(growth)) else SHARED if is_shared else None


def _where_stored(program: Program, growth: Growth, now: Pass) -> Iterator[Repair]:
    """Where an object keeps the state for the next pass, as `self.states[user] = state`."""
    from autodetach.candidates.stores import at_key, at_store, stored_operands

    crossed = list(crossed_operands(growth.node, now))
    elements = [element for _, element in stored_operands(growth.run, crossed)]
    yield from at_key(program, growth.run, crossed, elements)
    yield from at_store(elements)


def _is_to_be_trained(growth: Growth) -> bool:
    """Whether an optimizer has parameters with which a state is computed, and never any gradient for them."""
    steps = [s for s in growth.run.machine.steps if s.what == "step"]
    idle = {leaf for step in steps for leaf in step.idle} - {leaf for step in steps for leaf, _ in step.consumed}
    return not idle.isdisjoint(ancestors([growth.node]))


def _leaf_again(program: Program, crossed: list[Crossed], doubt: str | None) -> Iterator[Candidate]:
    """What `torch.autograd.grad` is asked about in every pass has to require grad when it is cut off."""
    from autodetach.codemods.append_method import AppendMethod

    made: dict[ast.expr, None] = {}
    for _, _, maker in crossed:
        place = maker.site.node
        statement = program.statement(place)
        if not isinstance(place, ast.expr) or not isinstance(statement, ast.Assign) or statement.value is not place:
            return
        made[place] = None
    if made:
        shown = listed(made)
        again = tuple(AppendMethod(e, "detach().requires_grad_") for e in made)
        yield Candidate(f"make {shown} a leaf again", again, doubt)
