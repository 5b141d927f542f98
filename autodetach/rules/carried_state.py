"""A state with history is carried from one pass into the next.

## What it does
Reports recurrent states, memories, running statistics and their like that are read in a later pass with the graph of
an earlier one, where that graph was freed (the second backward raises), changed by a parameter step (the in-place
error), kept by a pasted `retain_graph=True`, or never differentiated at all.

## Why is this bad
`RuntimeError: Trying to backward through the graph a second time` in pass two. With `retain_graph=True` it becomes
"modified by an inplace operation", or each pass walks the graphs of all passes before it.

## Example
```python
h = torch.zeros(1, 8)
for x, y in loader:
    out, h = rnn(x, h)
    loss = criterion(out, y)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
    optimizer.step()
    h = h.detach()
```

## Fix safety
Unsafe where gradient of earlier passes is cut off: truncated backpropagation is what most people want, but a state
that is made anew for each sample, or one backward after the loop, may be what you meant. Safe where nothing is
differentiated at all. The state is detached where it enters the next pass, never inside a cell, and never where it
still feeds the loss of its own pass. Where what makes it would then learn nothing, the losses of a sequence are added
up, and differentiated once behind it. A state that every epoch takes through the same sequence begins anew with it, so
does a sum that nothing ever sets back to its zero, or only an epoch that begins, and what another loop calls in each
of its passes, as `reset(net)`, is called in this one too: unsafe. So is emptying a list that nothing else reads when
it has been used, and, where something does, calling the method of its object that does so when a pass begins, or
emptying it in the one that then sets others of its attributes back, and making an object with a memo, which the loop
asks for more than one value, in each pass instead of before it. A state that retains its gradient is made a leaf
again. What the first pass measures and keeps for all others (`if not self.begun:`) is measured without its graph. What
enters a running average in a method like `update_target`, or the largest number so far, is detached there, if each
loss still trains something without it; what each pass adds to a memory that only later passes read, as it is added, if
other losses train what makes it: unsafe. What is to be frozen by `requires_grad = False` where it is no leaf, which
raises, is detached there.

## When it stays silent
When the state is detached, made anew, or under `no_grad`; in an unrolled loop with one backward behind it. Where
nothing differentiates it, also when a test in its loop has it begin anew now and then, as `if done:` does, in a
function that pytest or unittest calls and what that calls of other files, and in a few steps whose state is a record
that each of them makes anew.

## References
- https://docs.pytorch.org/docs/stable/notes/faq.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.acted import acted_without_graph
from autodetach.candidates.advanced_behind import STEPPED, advanced_behind
from autodetach.candidates.anew import made_anew
from autodetach.candidates.averages import AVERAGED, averages_parameter
from autodetach.candidates.begun_sum import begun_in_pass
from autodetach.candidates.begun_with_sequence import begun_with_sequence
from autodetach.candidates.built_once import computed_where_read
from autodetach.candidates.cover import cover
from autodetach.candidates.done_alike import done_alike, done_in_other_loops
from autodetach.candidates.emptied import emptied_lists
from autodetach.candidates.frozen_results import frozen_results
from autodetach.candidates.growing_state import growing_state
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
from autodetach.candidates.running_statistics import FOLLOWED, followed
from autodetach.candidates.set_back_too import set_back_too
from autodetach.candidates.spent import SEGMENTS, is_spent_when_read
from autodetach.candidates.start_as_property import start_as_property
from autodetach.candidates.start_copied import begun_with_copy
from autodetach.candidates.stores import at_key, at_one_store, at_store, copied_in, fills_a_place, stored_operands
from autodetach.candidates.sums_anew import sums_begun_anew
from autodetach.candidates.truncation import leaves_again, truncated
from autodetach.candidates.whole_tables import whole_tables
from autodetach.finding import Severity, StoryStep
from autodetach.machine.graph import Differentiation, Node, Pass, ancestors, diverge, pass_of
from autodetach.machine.operands import expression_of
from autodetach.machine.run import Run
from autodetach.suspect import EARLIER, Candidate, Suspect, rule
from autodetach.view.begun_anew import begins_anew
from autodetach.view.crossings import Crossed, crossings, spent_beside, window_begin
from autodetach.view.holders import replay, twin, twin_pass
from autodetach.view.moments import moment
from autodetach.view.program import (
    Program,
    assumptions_of,
    changed_by_hand,
    fault_of,
    is_assumed,
    line,
    observed_of,
    stepped_between,
    text,
)

BEGINNING = "only the first pass then trains what the state begins with"
DRAWN = "what is drawn from a memory is taken for data; whether its makers learn through it, only its author knows"
READ_AT_ONCE = "the loss of the pass that stores it reads it too, and trains nothing through that any more"


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    for run in program.runs:
        for suspect in (*_errors(program, run), *_walked_again(program, run)):
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect
    for growth in program.growths:
        if growth.kind == "chain" and not growth.linear and (growth.dead or not begins_anew(program, growth)):
            suspect = growing_state(program, growth)
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect


# ---- suspects


def _errors(program: Program, run: Run) -> Iterator[Suspect]:
    for walk in run.machine.second_walks:
        apart = diverge(walk.node.loops, walk.second.loops)
        if apart is not None:
            apart = apart[0], window_begin(run, walk.second, *apart)
            crossed = list(crossings(walk.second, apart[1]))
            if crossed:
                yield _raising(program, run, walk.second, walk.evidence, walk.node, walk.first, apart, crossed)
    for stale in run.machine.stale:
        apart = diverge(stale.node.loops, stale.by.loops)
        if apart is not None:
            apart = apart[0], window_begin(run, stale.by, *apart)
            crossed = list(crossings(stale.by, apart[1]))
            if crossed:
                yield _raising(program, run, stale.by, stale.path, stale.node, None, apart, crossed)


def _changed(place: ast.AST) -> ast.expr | None:
    """What a statement changes: `queue` of `queue[at] = rows` and of `queue.mul_(0.9)`."""
    if isinstance(place, ast.Call) and isinstance(place.func, ast.Attribute) and place.func.attr.endswith("_"):
        return place.func.value
    return place.value if isinstance(place, ast.Subscript) else None


def _raising(
    program: Program,
    run: Run,
    d: Differentiation,
    path: tuple[Node, ...],
    node: Node,
    first: Differentiation | None,
    apart: tuple[Pass, Pass],
    crossed: list[Crossed],
) -> Suspect:
    reader, operand, maker = crossed[-1]
    named = expression_of(reader, operand) or _changed(reader.site.node)
    name = text(named) if named is not None else run.machine.state_names.get(operand)
    state, that = (f"`{name}`", f"that `{name}`") if name else (f"what `{text(reader.site.node)}` reads", "it")
    before, now = apart
    story = [StoryStep(line(maker.site), f"pass {before.index + 1}: builds the graph of {state}")]
    if first is not None:
        story.append(StoryStep(line(first.call), f"pass {before.index + 1}: backward frees it"))
        end = "needs the freed part again: PyTorch raises"
    else:
        end = "needs tensors that a parameter step has changed in place since: PyTorch raises"
    story.append(StoryStep(line(reader.site), f"pass {now.index + 1}: reads {that} with its old graph"))
    last = pass_of(d.loops, now.activation) or now
    story.append(StoryStep(line(d.call), f"pass {last.index + 1}: {end}"))
    return Suspect(
        ("AD302", d.scope, program.spot(d.call)),
        d.call if not isinstance(reader.site.node, ast.expr) else reader.site.node,
        f"{state} carries its graph from one pass into the next, and `{text(d.call)}` walks into it",
        Severity.ERROR,
        tuple(story),
        not is_assumed(path),
        assumptions_of(program, path),
        lambda: _candidates(program, run, d, now, crossed),
        fault_of(program, d),
        observed_of(program, (*path, maker)),
    )


def _walked_again(program: Program, run: Run) -> Iterator[Suspect]:
    """Retained graph of an earlier pass is walked again in a later one, with a step in between: no error, but wrong.

    Of each loop, the first differentiation that does so is told.
    """
    if not any(d.retain for d in run.machine.differentiations):
        return
    told: set[object] = set()
    for d in run.machine.differentiations:
        if d.create_graph or d.raised:
            continue
        for node in d.walked:
            if len(node.walked_by) < 2 or node.leaf or node.weak or not node.saves or node in d.perhaps:
                continue
            old = next((o for o in node.walked_by if o.number < d.number and o.retain and not _is_unrolled(o)), None)
            apart = diverge(node.loops, d.loops)
            if old is None or apart is None or apart[1] in old.loops:
                continue
            if not (stepped_between(run, old, d) or changed_by_hand(run, old, d)):
                continue
            loop = apart[1].activation.node or apart[1].activation
            if loop in told:
                continue
            crossed = list(crossings(d, apart[1]))
            if crossed and not (d.kind == "grad" and _are_cut(run, d, crossed)):
                told.add(loop)
                yield _retained(program, run, d, node, apart, crossed)


def _is_unrolled(d: Differentiation) -> bool:
    """Whether gradient is taken to be computed with, and differentiated itself."""
    return d.kind == "grad" and d.create_graph


def _are_cut(run: Run, d: Differentiation, crossed: list[Crossed]) -> bool:
    """Whether the program has cut off what the same places have made: of a long list, only a part is run through."""
    places = {maker.site.node for _, _, maker in crossed}
    alike = (n for n in run.machine.nodes if n.site.node in places and n not in d.walked)
    return any(n.let_go is not None and n.let_go_at < d.number for n in alike)


def _retained(
    program: Program, run: Run, d: Differentiation, node: Node, apart: tuple[Pass, Pass], crossed: list[Crossed]
) -> Suspect:
    reader, operand, maker = crossed[-1]
    state = text(expression_of(reader, operand))
    before, now = apart
    story = (
        StoryStep(line(maker.site), f"pass {before.index + 1}: builds the graph of `{state}`"),
        StoryStep(line(d.call), f"pass {before.index + 1}: `retain_graph=True` keeps it"),
        StoryStep(line(reader.site), f"pass {now.index + 1}: reads that `{state}` with its old graph"),
        StoryStep(
            line(d.call), f"pass {now.index + 1}: walks both: every pass walks the graphs of all passes before it"
        ),
    )
    return Suspect(
        ("AD302", d.scope, program.spot(d.call)),
        d.call,
        f"`retain_graph=True` hides that `{state}` carries its graph from one pass into the next",
        Severity.ERROR,
        story,
        not node.assumed,
        (),
        lambda: _candidates(program, run, d, now, crossed, "the gradients of a program that runs today change"),
        fault_of(program, d),
        observed_of(program, (node,)),
    )


# ---- candidates


def _candidates(
    program: Program,
    run: Run,
    d: Differentiation,
    now: Pass,
    crossed: list[Crossed],
    doubt: str | None = None,
) -> Iterator[Candidate]:
    from autodetach.codemods.set_keyword import SetKeyword

    again = replay(program, run, now.activation, now.index)
    same = twin(again.machine, d)
    if same is None:
        return
    same_now = twin_pass(again.machine, same, now)
    if same_now is None:
        return
    there = list(crossings(same, same_now))
    flags = [
        SetKeyword(o.call, "retain_graph", None)
        for o in run.machine.differentiations
        if o.retain
        and (o.kind != "grad" or (doubt is not None and o.call is d.call))
        and isinstance(o.retain_written, ast.keyword)
        and any(p.activation is now.activation for p in o.loops)
    ]
    removals = tuple({f.call: f for f in flags}.values())
    stored = list(stored_operands(run, crossed))
    elements = [element for _, element in stored]
    detached = [*at_store(elements), *at_key(program, run, crossed, elements)]
    written = list(at_store(copied_in(program, (maker for _, _, maker in crossed))))
    appended = [e for e, _ in stored if e.how == "append"]
    draws = [draw for draw in run.machine.drawn if not draw.in_order]
    is_drawn = any(maker in draw.taken for draw in draws for _, _, maker in crossed)
    if is_drawn:
        appended = []  # what is drawn from a memory is meant to last
    emptied = list(emptied_lists(program, again, moment(same), now.activation, there, appended))
    begun = list(begun_in_pass(program, d, now.activation, crossed))
    own = list(asked_by_instance(run))
    own += own_cuts(program, again, moment(same), now.activation, there)
    shortened = list(truncated(program, again, moment(same), now.activation, there))
    again_leaves = list(leaves_again(program, again, moment(same), now.activation, there))
    if again_leaves and (beside := spent_beside(again.machine, there, same_now)):
        again_leaves += leaves_again(program, again, moment(same), now.activation, [*there, *beside])
    whole = list(whole_tables(program, again, moment(same), now.activation, there))
    for message, codemods in followed(program, run, d, now, crossed):
        if removals:
            kept = f"{message}, and no graph is retained"
            yield Candidate(kept, (*codemods, *removals), doubt or FOLLOWED, cuts=True)
        yield Candidate(message, codemods, doubt or FOLLOWED, cuts=True)
    anew = [(*repair, ANEW) for repair in begun_with_copy(program, again, there)]
    for message, codemods, why in (*anew, *((*repair, None) for repair in where_overwritten(program, there))):
        if removals:
            yield Candidate(message + ", and no graph is retained", (*codemods, *removals), doubt or why)
        yield Candidate(message, codemods, doubt or why)
    if not is_drawn:
        yield from set_back_too(program, again, moment(same), now.activation, there, removals)
    if is_spent_when_read(run, crossed):
        for message, codemods in at_read(program, there):
            yield Candidate(message, codemods, doubt or SEGMENTS, cuts=True)
    yield from frozen_results(program, run)
    if doubt is None:
        yield from layers_inside(run)
        yield from done_alike(program, again, there)
        if not own:
            yield from done_in_other_loops(program, again, moment(same), same_now.activation, there)
        held = cover(program, again, moment(same), now.activation, [operand for _, operand, _ in there])
        yield from begun_with_sequence(program, moment(same), same_now.activation, held)
        yield from sums_begun_anew(program, again, moment(same), now.activation, held.values())
        yield from local_sum_begun_anew(program, again, moment(same), now.activation, held.values())
        yield from kept_sums_begun_anew(program, again, moment(same), now.activation, held.values())
        yield from kept_at_first(program, crossed, flagged=True)
        if _keeps_trained(run, crossed, now):
            yield from made_in_pass(program, run, same_now.activation, crossed, held.values())
            yield from made_anew(program, again, moment(same), now.activation, crossed, there)
    if doubt is None and all(averages_parameter(maker) for _, _, maker in crossed):
        yield from (Candidate(message, codemods, AVERAGED, cuts=True) for message, codemods in detached)
    acted = list(acted_without_graph(program, run, [maker for _, _, maker in crossed])) if doubt is None else []
    cut_where_read = {message for message, _ in at_read(program, there)}
    for message, codemods in (*begun, *own, *whole, *detached, *written, *emptied, *shortened, *again_leaves):
        if message in cut_where_read:
            yield from acted  # a cut where a network reads its state would be in its training, too
            acted = []
        if (message, codemods) in emptied:
            yield Candidate(message, codemods, doubt or "what else belongs to the emptied list, only its author knows")
            continue
        # Where it is not known which of several states is read, what is compared may not show what is cut off.
        why = doubt or (EARLIER if is_drawn and (message, codemods) in own + shortened else None)
        if removals:
            yield Candidate(message + ", and no graph is retained", (*codemods, *removals), why)
        yield Candidate(message, codemods, why)
        if (message, codemods) in written and all(fills_a_place(program, maker) for _, _, maker in crossed):
            yield Candidate(message, codemods, doubt or READ_AT_ONCE, cuts=True)
    for message, codemods in at_one_store(program, elements):
        yield Candidate(message, codemods, doubt or EARLIER, last_resort=True)
    for message, codemods in detached if is_drawn else ():
        yield Candidate(message, codemods, doubt or DRAWN, cuts=True)
    if doubt is None:
        yield from kept_at_first(program, crossed)
        if not any(_is_made_again(run, maker, now) for _, _, maker in crossed):
            yield from computed_where_read(program, run, crossed)
        yield from made_anew(program, again, moment(same), now.activation, crossed, there)
        yield from start_as_property(program, run, now, [maker for _, _, maker in crossed])
        is_near = all(h.frame is same_now.activation.frame for h in held.values())
        states = {h.text: h.value for h in held.values()} if is_near else {}
        yield from differentiated_behind(program, run, d, now, crossed, states)
        yield from trained_behind(program, run, d, now, crossed)
        yield from learned_behind(program, run, d, now, crossed)
    yield from own_terms(program, d, crossed)
    yield from joined_terms(program, d)
    behind = list(cut_behind(program, run, d, now.activation, crossed))
    for message, codemods in () if behind else detached_as_added(there):
        yield Candidate(message, codemods, doubt or LATER, cuts=True, last_resort=True)
    if doubt is None and all(_is_made_again(run, maker, now) for _, _, maker in crossed):
        for message, codemods in shortened:
            yield Candidate(message, codemods, BEGINNING, starts=True, last_resort=True)
    cuts = list(at_read(program, _crossed_before(d, now)))
    for message, codemods in advanced_behind(program, run, d, now, crossed, cuts):
        yield Candidate(message, codemods, doubt or STEPPED)
    for message, codemods in cuts:
        yield Candidate(message, codemods, doubt)
    for message, codemods in behind:
        yield Candidate(message, codemods, doubt or SEGMENTS, last_resort=True)
    yield from acted
    if doubt is None:
        yield from computed_by_reader(program, run, [maker for _, _, maker in crossed])
    for message, codemods in at_store(element for e, element in stored if e.how == "append" and not is_drawn):
        yield Candidate(message, codemods, doubt or READ_AT_ONCE, cuts=True, last_resort=True)


def _keeps_trained(run: Run, crossed: list[Crossed], now: Pass) -> bool:
    """Whether what crosses is kept as it is, and made of what is trained: a detach takes it away from later passes.

    So is what a derivative is asked for (`torch.autograd.grad(energy, cell)`): later passes would get a part of it.
    """
    makers = [maker for _, _, maker in crossed]
    if any(_is_made_again(run, maker, now) for maker in makers):
        return False
    consumed = [(step, leaf, ds) for step in run.machine.steps for leaf, ds in step.consumed]
    stepped = {leaf for step, leaf, ds in consumed if step.what != "grad" or any(d.kind == "grad" for d in ds)}
    return not stepped.isdisjoint(ancestors(makers))


def _is_made_again(run: Run, maker: Node, now: Pass) -> bool:
    """Whether a pass makes anew what has crossed into it: it is a state that evolves, and not a value that is kept."""
    return any(n.site.node is maker.site.node and now in n.loops for n in run.machine.nodes)


def _crossed_before(d: Differentiation, now: Pass) -> Iterator[Crossed]:
    """Where what crosses into a pass was made of what had crossed into the pass before it.

    So are weights that a trained optimizer updates: what they owe to its last step trains it, and older steps do not.
    """
    before = {p for n in d.walked for p in n.loops if p.activation is now.activation and p.index == now.index - 1}
    for last in before:
        yield from crossings(d, last)


RULE = rule(__doc__, "AD302", "carried-state", find)
