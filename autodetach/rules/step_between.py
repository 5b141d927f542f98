"""A parameter step stands between two backward calls over one graph.

## What it does
Reports a differentiation that needs tensors which a parameter step (or another change in place) has changed since
they were saved, within one pass.

## Why is this bad
`RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation`. It is
what `retain_graph=True` turns the second-backward error into when an optimizer steps in between.

## Example
```python
loss_a.backward(retain_graph=True)
opt_a.step()
loss_b.backward()
opt_b.step()
```

## Use instead
```python
loss_a.backward(retain_graph=True)
loss_b.backward()
opt_a.step()
opt_b.step()
```

## Fix safety
A step is moved only if every step still consumes gradient of the same losses; unsafe where several optimizers share the
gradient, since one loss may be meant to be detached. Otherwise the second loss is computed behind the step, if nothing
reads it before, or as much of it as depends on what was stepped, also where another method has made that; or it is
differentiated, and its parameters stepped, before the first step, under an `if` of its own where only some passes do so
and other things besides, or with the end of an `if` behind it that has made a part of it and steps another network; or
it is computed once more, the first one from a detached value where both would train its makers, of the same data, which
gets a name where it is drawn or taken in the middle of that; or the first step is dropped, if the same one runs behind
the second loss and nothing is zeroed in between. Where no step but the program changes a tensor in place, it makes a
new one: `x += y` becomes `x = x + y`, `x.mul_(y)` becomes `x = x.mul(y)`, a layer gets `inplace=False`, and `x[k] = y`
writes into a copy, as `x.mul_(y)` does where others hold `x`; in a loop it is one that is made in front of it; where
several operations have saved `x`, a copy is made in front of its first change, which is unsafe, since a view of `x`
keeps what it had. The former is unsafe where something else may hold `x`, as the next network that reads the same `x`
does, and where `y` may be of a wider type, as an array of NumPy is: `x` keeps its own in place. Of a parameter that it
changes so, as to normalise it, a copy (`weight.clone()`) is computed with. Where the forward is run again behind the
step, but under a name that nobody reads, it takes the name of the old result. A call that leads to the change moves
behind the backward call, or a hook that makes it takes the name of a later one. Where the later loss has the first one
as a term, it is differentiated alone, and the first one's step runs behind it. Where one call has made all losses, each
is differentiated for what its own step trains (`inputs=...`), and the steps follow. What a network out of view has made
is handed on detached where the step of an optimizer out of view may have changed that network. What statistics are made
of in place, and a loss has in its target alone, is detached where the training computes it. These are unsafe: to
detach, or another one of them, may be what was meant.

## When it stays silent
When the forward is run again after the step, and when no changed tensor was saved.

## References
- https://docs.pytorch.org/docs/stable/notes/autograd.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from autodetach.finding import Severity, StoryStep
from autodetach.machine.activations import diverge
from autodetach.machine.events import SecondWalk, StaleSaved
from autodetach.machine.graph import Differentiation, Site
from autodetach.machine.run import Run
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.crossings import crossings
from autodetach.view.other_entries import stand_in_for_each_other
from autodetach.view.program import Program, assumptions_of, fault_of, is_assumed, line, observed_of, text
from autodetach.view.steps_between import stepped_between


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    for run in program.runs:
        for suspect in (*_changed(program, run), *_freed(program, run)):
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect


def _changed(program: Program, run: Run) -> Iterator[Suspect]:
    for event in run.machine.stale:
        apart = diverge(event.node.loops, event.by.loops)
        if apart is not None and any(True for _ in crossings(event.by, apart[1])):
            continue  # a pass goes on with what an earlier one has computed: see AD302
        first = next((d for d in event.node.walked_by if d.number < event.by.number), None)
        if first is None or not stand_in_for_each_other(program, first, event.by):
            suspect = _suspect(program, run, event, first, event.by, event.changed)
            yield suspect if apart is None else replace(suspect, candidates=lambda: iter(()))


def _freed(program: Program, run: Run) -> Iterator[Suspect]:
    """The graph is freed as well: retaining it would only trade one error for the other."""
    for event in run.machine.second_walks:
        first, second = event.first, event.second
        if diverge(first.loops, second.loops) is not None or stand_in_for_each_other(program, first, second):
            continue
        if stepped_between(run, first, second):
            step = next(
                s for s in run.machine.steps if event.first.number < s.clock < event.second.number and s.what != "grad"
            )
            yield _suspect(program, run, event, event.first, event.second, step.site)


def _suspect(
    program: Program,
    run: Run,
    event: StaleSaved | SecondWalk,
    first: Differentiation | None,
    by: Differentiation,
    changed: Site,
) -> Suspect:
    story = [StoryStep(line(event.node.site), f"builds the graph; `{event.node.op}` saves tensors for backward")]
    if first is not None:
        story.append(StoryStep(line(first.call), f"`{text(first.call)}` walks it"))
    story.append(StoryStep(line(changed), "changes tensors in place"))
    story.append(StoryStep(line(by.call), f"`{text(by.call)}` needs the graph as it was: PyTorch raises"))
    return Suspect(
        ("AD202", by.scope, program.spot(by.call)),
        changed.node if isinstance(changed.node, (ast.expr, ast.stmt)) else by.call,
        f"`{text(changed.node)}` changes tensors in place that `{text(by.call)}` in {program.place(by.call)} "
        "still needs",
        Severity.ERROR,
        tuple(story),
        not is_assumed(event.evidence),
        assumptions_of(program, event.evidence),
        lambda: _candidates(program, run, event, by, changed),
        fault_of(program, by),
        observed_of(program, event.evidence),
    )


def _candidates(
    program: Program, run: Run, event: StaleSaved | SecondWalk, by: Differentiation, changed: Site
) -> Iterator[Candidate]:
    from autodetach.candidates.added_by_each import added_by_each
    from autodetach.candidates.called_later import called_later
    from autodetach.candidates.computed_behind import called_behind_step, computed_behind_step, read_behind_step
    from autodetach.candidates.copied import read_copy
    from autodetach.candidates.copied_before_change import copied_before_change
    from autodetach.candidates.copied_before_loop import copied_before_loop
    from autodetach.candidates.copied_parameter import parameter_copied
    from autodetach.candidates.copied_views import read_copies, returned_copy
    from autodetach.candidates.measured import target_detached
    from autodetach.candidates.moved_behind_look import step_moved_behind_look
    from autodetach.candidates.moved_branch import branch_moved_before
    from autodetach.candidates.moved_steps import READ, differentiated_before, step_moved_behind, stepped_once
    from autodetach.candidates.new_tensors import new_tensors
    from autodetach.candidates.out_of_view import judged_again, made_by_stepped
    from autodetach.candidates.own_inputs import restricting, restricting_all
    from autodetach.candidates.part_of_later_loss import differentiated_with_later
    from autodetach.candidates.tail_of_branch import tail_moved_behind
    from autodetach.candidates.under_its_name import under_its_name
    from autodetach.candidates.views_handed_on import handed_on_copies

    for first in event.node.walked_by[:1]:
        yield from under_its_name(program, run, first, by)
    moved = list(step_moved_behind(program, run, by, changed))
    if any(candidate.doubt == READ for candidate in moved):
        yield from read_behind_step(program, run, by)
    yield from moved or step_moved_behind_look(program, run, by, changed)
    for first in event.node.walked_by[:1]:
        yield from differentiated_with_later(program, run, first, by)
    if isinstance(event, StaleSaved):
        yield from called_later(program, run, event)
        yield from target_detached(run, event)
        yield from read_copy(program, event)
        yield from new_tensors(program, run, event)
        yield from read_copies(program, event)
        yield from returned_copy(program, event)
        yield from handed_on_copies(program, event)
        yield from copied_before_loop(program, event)
        yield from copied_before_change(program, event)
        yield from parameter_copied(run, event)
        yield from added_by_each(program, run, event)
    given = made_by_stepped(run, by)
    if given:
        yield from judged_again(program, run, by, given)
    behind = [] if given else list(computed_behind_step(program, run, by, in_a_row=not moved))
    yield from behind[:-1]
    if isinstance(event, StaleSaved):
        yield from branch_moved_before(program, run, by)
        yield from differentiated_before(program, run, by)
        yield from tail_moved_behind(program, run, by)
    for repair in moved:
        yield from restricting_all(program, run, by, repair)
    yield from behind[-1:]  # the one that computes everything twice
    if not given:
        yield from called_behind_step(program, run, by)
    yield from stepped_once(program, run, by)
    for repair in moved:
        yield from restricting(program, run, by, repair)


RULE = rule(__doc__, "AD202", "step-between-backwards", find)
