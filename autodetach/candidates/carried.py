"""All that may repair a state which is carried from one pass into the next, in the order in which it is tried."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from autodetach.candidates.acted import acted_without_graph
from autodetach.candidates.advanced_behind import STEPPED, advanced_behind
from autodetach.candidates.anew import made_anew
from autodetach.candidates.averages import AVERAGED, averages_parameter
from autodetach.candidates.begun_sum import begun_in_pass
from autodetach.candidates.begun_with_sequence import begun_with_sequence
from autodetach.candidates.begun_with_states import begun_with_states
from autodetach.candidates.cover import cover
from autodetach.candidates.cut_where_set import (
    cut_in_objects,
    cut_where_bound,
    is_deep,
    is_for_later,
    is_shared_in_pass,
)
from autodetach.candidates.detached_where_returned import where_returned
from autodetach.candidates.done_alike import done_alike, done_in_other_loops
from autodetach.candidates.emptied import emptied_lists
from autodetach.candidates.emptied_when_entered import emptied_when_entered
from autodetach.candidates.frozen_results import frozen_results
from autodetach.candidates.handed_over import ASKED_AGAIN, computed_where_handed_over
from autodetach.candidates.joined_shares import joined_shares
from autodetach.candidates.joined_terms import joined_terms
from autodetach.candidates.kept_at_first import kept_at_first
from autodetach.candidates.kept_ingredients import computed_by_reader
from autodetach.candidates.kept_sums import kept_sums_begun_anew
from autodetach.candidates.learned_behind import learned_behind
from autodetach.candidates.learned_start import ANEW
from autodetach.candidates.left_behind import cut_behind
from autodetach.candidates.local_sums import local_sum_begun_anew
from autodetach.candidates.made_in_pass import made_in_pass
from autodetach.candidates.nested_layers import layers_inside
from autodetach.candidates.old_tests import asked_by_instance
from autodetach.candidates.one_backward import differentiated_behind
from autodetach.candidates.one_backward_behind import trained_behind
from autodetach.candidates.own_cuts import own_cuts
from autodetach.candidates.own_term import own_terms
from autodetach.candidates.reads import at_read, where_overwritten
from autodetach.candidates.renewed import LATER, detached_as_added
from autodetach.candidates.reset_left_out import reset_left_out
from autodetach.candidates.running_statistics import FOLLOWED, followed
from autodetach.candidates.set_back_too import set_back_too
from autodetach.candidates.spent import SEGMENTS, is_spent_when_read
from autodetach.candidates.start_as_property import start_as_property
from autodetach.candidates.start_copied import begun_with_copy
from autodetach.candidates.stored_and_carried import stored_and_carried, stored_together
from autodetach.candidates.stores import at_key, at_one_store, at_store, copied_in, fills_a_place, stored_operands
from autodetach.candidates.summed_in_call import summed_in_call
from autodetach.candidates.summed_terms import terms_without_graph
from autodetach.candidates.sums_anew import sums_begun_anew
from autodetach.candidates.truncation import leaves_again, truncated, truncated_if_any
from autodetach.candidates.whole_tables import whole_tables
from autodetach.candidates.without_cache import without_cache
from autodetach.machine.activations import Pass
from autodetach.machine.events import Stored
from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.machine.run import Run
from autodetach.named_tuples import NamedTuple
from autodetach.suspect import EARLIER, Candidate
from autodetach.view.crossings import Crossed, crossings, spent_beside
from autodetach.view.holders import Holder, Replay, replay, twin, twin_pass
from autodetach.view.moments import Moment, suspended
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

BEGINNING = "only the first pass then trains what the state begins with"
DRAWN = "what is drawn from a memory is taken for data; whether its makers learn through it, only its author knows"
EMPTIED = "what else belongs to the emptied list, only its author knows"
READ_AT_ONCE = "the loss of the pass that stores it reads it too, and trains nothing through that any more"

Repair = tuple[str, tuple["Codemod", ...]]
"""What it says, and what it does."""


class Carried(NamedTuple):
    """A state with history that crosses into a pass, in a run and in the same one once more, up to there.

    `d` walks it; `doubt` is why no repair is safe, if there is a reason. Of `again`, `at` is the moment of `d`, `begun`
    the pass, and `there` what crosses. `removals` take `retain_graph=True` off; `is_drawn`: nobody knows which of
    several states is read.
    """

    program: Program
    run: Run
    d: Differentiation
    now: Pass
    crossed: list[Crossed]
    doubt: str | None
    again: Replay
    at: Moment
    begun: Pass
    there: list[Crossed]
    removals: tuple[Codemod, ...]
    is_drawn: bool

    @property
    def makers(self) -> list[Node]:
        return [maker for _, _, maker in self.crossed]

    def is_made_again(self, maker: Node) -> bool:
        """Whether the pass makes anew what has crossed into it: a state that evolves, and not a value that is kept."""
        return any(n.site.node is maker.site.node and self.now in n.loops for n in self.run.machine.nodes)

    def keeps_trained(self) -> bool:
        """Whether what crosses is kept as it is, and made of what is trained: a detach takes it away from later passes.

        So is what a derivative is asked for (`torch.autograd.grad(energy, cell)`): later passes would get a part of it.
        """
        if any(self.is_made_again(maker) for maker in self.makers):
            return False
        consumed = [(step, leaf, ds) for step in self.run.machine.steps for leaf, ds in step.consumed]
        stepped = {leaf for step, leaf, ds in consumed if step.what != "grad" or any(d.kind == "grad" for d in ds)}
        return not stepped.isdisjoint(ancestors(self.makers))

    def with_removals(self, message: str, codemods: tuple[Codemod, ...], why: str | None) -> Iterator[Candidate]:
        """A repair; first, where graph is retained, one that retains none any more."""
        if self.removals:
            yield Candidate(message + ", and no graph is retained", (*codemods, *self.removals), why)
        yield Candidate(message, codemods, why)


def for_carried_state(
    program: Program, run: Run, d: Differentiation, now: Pass, crossed: list[Crossed], doubt: str | None = None
) -> Iterator[Candidate]:
    """For what has `crossed` into the pass `now`, where `d` walks it."""
    c = _carried(program, run, d, now, crossed, doubt)
    if c is None:
        return
    from autodetach.codemods import target_of

    if doubt is None:
        yield from terms_without_graph(program, run, now.activation, set(ancestors(c.makers)))
    own = [*asked_by_instance(run), *own_cuts(program, c.again, c.at, now.activation, c.there)]
    yield from _begun_otherwise(c)
    if doubt is None:
        yield from _as_elsewhere(c, has_own=bool(own))
    acted = list(acted_without_graph(program, run, c.makers)) if doubt is None else []
    set_without = list(_where_set(c))
    for message, codemods in set_without:
        if is_shared_in_pass(run, c.makers, [target_of(codemod) for codemod in codemods]):
            yield Candidate(message, codemods, c.doubt or READ_AT_ONCE, cuts=True)
    yield from _cut_off(c, own, acted, set_without)
    if doubt is None:
        yield from _trained_otherwise(c)
    yield from own_terms(program, d, crossed)
    yield from joined_terms(program, d)
    yield from joined_shares(program, d)
    yield from _cut_elsewhere(c, acted)


def _carried(
    program: Program, run: Run, d: Differentiation, now: Pass, crossed: list[Crossed], doubt: str | None
) -> Carried | None:
    again = replay(program, run, now.activation, now.index)
    same = twin(again.machine, d)
    begun = twin_pass(again.machine, same, now) if same is not None else None
    if same is None or begun is None:
        return None
    draws = [draw for draw in run.machine.drawn if not draw.in_order]
    is_drawn = any(maker in draw.taken for draw in draws for _, _, maker in crossed)
    removals = _without_retain(run, d, now, takes_grad=doubt is not None)
    there = list(crossings(same, begun))
    at = suspended(program, same, begun)
    return Carried(program, run, d, now, crossed, doubt, again, at, begun, there, removals, is_drawn)


def _without_retain(run: Run, d: Differentiation, now: Pass, *, takes_grad: bool) -> tuple[Codemod, ...]:
    """Takes `retain_graph=True` off all `backward` of the loop and, if it `takes_grad`, off a `grad` that is `d`."""
    from autodetach.codemods.set_keyword import SetKeyword

    flags = [
        SetKeyword(o.call, "retain_graph", None)
        for o in run.machine.differentiations
        if o.retain
        and (o.kind != "grad" or (takes_grad and o.call is d.call))
        and isinstance(o.retain_written, ast.keyword)
        and (any(p.activation is now.activation for p in o.loops) or (o.call is d.call and now not in d.loops))
    ]
    return tuple({flag.call: flag for flag in flags}.values())


def _begun_otherwise(c: Carried) -> Iterator[Candidate]:
    """What the state is made of is made without graph, or each pass begins with another one."""
    for message, codemods, doubt in without_cache(c.program, c.makers):
        yield from c.with_removals(message, codemods, c.doubt or doubt)
    for message, codemods in followed(c.program, c.run, c.d, c.now, c.crossed):
        for candidate in c.with_removals(message, codemods, c.doubt or FOLLOWED):
            yield replace(candidate, cuts=True)
    for message, codemods in begun_with_copy(c.program, c.again, c.there):
        yield from c.with_removals(message, codemods, c.doubt or ANEW)
    for message, codemods in where_overwritten(c.program, c.there):
        yield from c.with_removals(message, codemods, c.doubt)
    if not c.is_drawn:
        yield from set_back_too(c.program, c.again, c.at, c.now.activation, c.there, c.removals)
    if is_spent_when_read(c.run, c.crossed):
        for message, codemods in at_read(c.program, c.there):
            yield Candidate(message, codemods, c.doubt or SEGMENTS, cuts=True)
    yield from frozen_results(c.program, c.run)


def _as_elsewhere(c: Carried, *, has_own: bool) -> Iterator[Candidate]:
    """As other loops of the program, or the layers beside it, do; or each pass begins what it fills, sums or keeps."""
    at = (c.program, c.again, c.at)
    yield from layers_inside(c.run)
    yield from reset_left_out(c.program, c.again, c.there)
    yield from done_alike(c.program, c.again, c.there)
    if not has_own:
        yield from done_in_other_loops(*at, c.begun.activation, c.there)
    held = _held(c)
    yield from begun_with_states(c.program, [reader for reader, _, _ in c.crossed], held.values())
    yield from emptied_when_entered(*at, c.now.activation, held.values())
    yield from begun_with_sequence(c.program, c.at, c.begun.activation, held)
    yield from sums_begun_anew(*at, c.now.activation, held.values())
    yield from local_sum_begun_anew(*at, c.now.activation, held.values())
    yield from kept_sums_begun_anew(*at, c.now.activation, held.values())
    yield from summed_in_call(c.program, c.d, c.crossed)
    yield from kept_at_first(c.program, c.crossed, flagged=True)
    yield from _handed_over(c, held, beside=True)
    if c.keeps_trained():
        yield from made_in_pass(c.program, c.run, c.begun.activation, c.crossed, held.values())
        yield from made_anew(*at, c.now.activation, c.crossed, c.there)


def _handed_over(c: Carried, held: dict[str, Holder], *, beside: bool) -> Iterator[Candidate]:
    names = {h.text for h in held.values()}
    at = (c.program, c.run, c.now.activation)
    for message, codemods in computed_where_handed_over(*at, c.crossed, names, beside=beside):
        yield Candidate(message, codemods, ASKED_AGAIN)


def _held(c: Carried) -> dict[str, Holder]:
    return cover(c.program, c.again, c.at, c.now.activation, [operand for _, operand, _ in c.there])


def _cut_off(c: Carried, own: list[Repair], acted: list[Candidate], set_without: list[Repair]) -> Iterator[Candidate]:
    """The state is detached: where it is stored, by a method of its own, or at the end of the pass.

    Of an object inside of others, it is detached where it is set: there may be more of them than have been seen.
    A cut where a network reads its state would be in its training, too: what has `acted` comes before, and is used up.
    """
    stored = list(stored_operands(c.run, c.crossed))
    returned = [] if stored else where_returned(c.program, c.run, c.crossed)
    elements = returned or [element for _, element in stored]
    together = stored_together(c.run, [event for event, _ in stored]) if c.is_drawn else []
    detached = [*at_store(elements), *at_key(c.program, c.run, c.crossed, elements)]
    written = list(at_store(copied_in(c.program, c.makers)))
    emptied = list(_emptied(c, [event for event, _ in stored if event.how == "append"]))
    shortened = list(truncated(c.program, c.again, c.at, c.now.activation, c.there))
    if c.doubt is None and all(averages_parameter(maker) for maker in c.makers):
        yield from (Candidate(message, codemods, AVERAGED, cuts=True) for message, codemods in detached)
    for message, codemods in stored_and_carried(c.program, c.again, c.at, c.now.activation, c.there, together):
        yield Candidate(message, codemods, c.doubt or EARLIER)
    is_inside = any(h.owner is not None and is_deep(h) for h in _held(c).values())
    for message, codemods in set_without if is_inside else ():
        yield from c.with_removals(message, codemods, c.doubt or EARLIER)
        if is_for_later(c.run, c.makers):
            yield Candidate(message, codemods, c.doubt or EARLIER, cuts=True)
    begun = begun_in_pass(c.program, c.d, c.now.activation, c.crossed)
    whole = whole_tables(c.program, c.again, c.at, c.now.activation, c.there)
    cut_where_read = {message for message, _ in at_read(c.program, c.there)}
    for repair in (*begun, *own, *whole, *detached, *written, *emptied, *shortened, *_leaves_again(c)):
        message, codemods = repair
        if message in cut_where_read:
            yield from acted
            acted.clear()
        if repair in emptied:
            yield Candidate(message, codemods, c.doubt or EMPTIED)
            continue
        # Where it is not known which of several states is read, what is compared may not show what is cut off.
        is_cut = (c.is_drawn and repair in own + shortened) or (returned and repair in detached)
        why = c.doubt or (EARLIER if is_cut else None)
        yield from c.with_removals(message, codemods, why)
        if repair in written and all(fills_a_place(c.program, maker) for maker in c.makers):
            yield Candidate(message, codemods, c.doubt or READ_AT_ONCE, cuts=True)
    for message, codemods in () if is_inside else set_without:
        yield Candidate(message, codemods, c.doubt or EARLIER, last_resort=True)
    for message, codemods in truncated_if_any(c.program, c.again, c.at, c.now.activation, c.there):
        for candidate in c.with_removals(message, codemods, c.doubt or (EARLIER if c.is_drawn else None)):
            yield replace(candidate, last_resort=True)
    for message, codemods in at_one_store(c.program, elements):
        yield Candidate(message, codemods, c.doubt or EARLIER, last_resort=True)
    for message, codemods in detached if c.is_drawn else ():
        yield Candidate(message, codemods, c.doubt or DRAWN, cuts=True)


def _where_set(c: Carried) -> Iterator[Repair]:
    yield from cut_in_objects(c.program, c.run, c.makers)
    yield from cut_where_bound(c.program, c.run, c.again, c.now.activation, c.there)


def _emptied(c: Carried, appended: list[Stored]) -> Iterator[Repair]:
    """What is drawn from a memory is meant to last."""
    if not c.is_drawn:
        yield from emptied_lists(c.program, c.again, c.at, c.now.activation, c.there, appended)


def _leaves_again(c: Carried) -> Iterator[Repair]:
    found = list(leaves_again(c.program, c.again, c.at, c.now.activation, c.there))
    yield from found
    if found and (beside := spent_beside(c.again.machine, c.there, c.begun)):
        yield from leaves_again(c.program, c.again, c.at, c.now.activation, [*c.there, *beside])


def _trained_otherwise(c: Carried) -> Iterator[Candidate]:
    """The state is computed anew where it is read, or what it was made of is trained by one backward behind all."""
    from autodetach.candidates.built_once import computed_where_read

    yield from kept_at_first(c.program, c.crossed)
    if not any(c.is_made_again(maker) for maker in c.makers):
        yield from computed_where_read(c.program, c.run, c.crossed)
    yield from made_anew(c.program, c.again, c.at, c.now.activation, c.crossed, c.there)
    yield from start_as_property(c.program, c.run, c.now, c.makers)
    held = _held(c)
    yield from _handed_over(c, held, beside=False)
    is_near = all(h.frame is c.begun.activation.frame for h in held.values())
    states = {h.text: h.value for h in held.values()} if is_near else {}
    yield from differentiated_behind(c.program, c.run, c.d, c.now, c.crossed, states)
    yield from trained_behind(c.program, c.run, c.d, c.now, c.crossed)
    yield from learned_behind(c.program, c.run, c.d, c.now, c.crossed)


def _cut_elsewhere(c: Carried, acted: list[Candidate]) -> Iterator[Candidate]:
    """What is left to try: cuts that no other repair has made, where the state is added to, read, or left behind."""
    behind = list(cut_behind(c.program, c.run, c.d, c.now.activation, c.crossed))
    for message, codemods in () if behind else detached_as_added(c.there):
        yield Candidate(message, codemods, c.doubt or LATER, cuts=True, last_resort=True)
    if c.doubt is None and all(c.is_made_again(maker) for maker in c.makers):
        for message, codemods in truncated(c.program, c.again, c.at, c.now.activation, c.there):
            yield Candidate(message, codemods, BEGINNING, starts=True, last_resort=True)
    cuts = list(at_read(c.program, _crossed_before(c.d, c.now)))
    for message, codemods in advanced_behind(c.program, c.run, c.d, c.now, c.crossed, cuts):
        yield Candidate(message, codemods, c.doubt or STEPPED)
    for message, codemods in cuts:
        yield Candidate(message, codemods, c.doubt)
    for message, codemods in behind:
        yield Candidate(message, codemods, c.doubt or SEGMENTS, last_resort=True)
    yield from acted
    if c.doubt is None:
        yield from computed_by_reader(c.program, c.run, c.makers)
    stored = list(stored_operands(c.run, c.crossed))
    yield from _stored_beside(c, [element for _, element in stored])
    if not c.is_drawn:
        for message, codemods in at_store(element for event, element in stored if event.how == "append"):
            yield Candidate(message, codemods, c.doubt or READ_AT_ONCE, cuts=True, last_resort=True)


def _stored_beside(c: Carried, elements: list[ast.expr]) -> Iterator[Candidate]:
    """A state that the loss reads from where it is stored, and others keep beside it: it is cut at the end of the pass.

    What the others keep is detached where they take it.
    """
    for at_end, cuts in truncated(c.program, c.again, c.at, c.now.activation, c.there):
        for message, codemods in at_one_store(c.program, elements):
            why = c.doubt or (EARLIER if c.is_drawn else None)
            yield Candidate(f"{message}, and {at_end}", (*codemods, *cuts), why, last_resort=True)


def _crossed_before(d: Differentiation, now: Pass) -> Iterator[Crossed]:
    """Where what crosses into a pass was made of what had crossed into the pass before it.

    So are weights that a trained optimizer updates: what they owe to its last step trains it, and older steps do not.
    """
    before = {p for n in d.walked for p in n.loops if p.activation is now.activation and p.index == now.index - 1}
    for last in before:
        yield from crossings(d, last)
