"""A container keeps tensors together with their autograd graph.

## What it does
Reports `losses.append(loss)`, `history["loss"].append(loss)`, `outputs += [out]`, `log[step] = loss` and their like,
where what is stored is never differentiated through the container, or only by the pass that has put it there, which
reads the end of the list and leaves the rest. A function that closes over a tensor keeps it, too. So does a list that a
comprehension makes over many things, `[step(x) for x in loader]`, and `list(...)` of a generator or of `map`.

## Why is this bad
Each element keeps the whole graph that made it: nodes if `backward()` ran, and all activations if it did not.

## Example
```python
losses = []
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    losses.append(loss)
```

## Use instead
```python
    losses.append(loss.item())
```

## Fix safety
Safe: what is differentiated stays the same. `.item()` is used for a scalar that is only used as a number, `.detach()`
where a tensor is needed later (`torch.stack(losses)`), where something is divided by it, or it takes part in a power
(Python's numbers raise there what tensors do not), where a file names a type of 16 bits or mixed precision, to which
a sum of tensors is rounded, or where the container leaves the code in view. Of what a pass puts together of what
an inner loop has gathered (`torch.cat(fakes)`), each part is detached. What a call returns that gives None, or a
number, for some batches has a name, and is detached if it is a tensor. What a function is given is
detached where others in its place give numbers: `func(out.detach(), y)`. A record whose loss the caller differentiates
lets go of its graph behind that, if nobody else has it. A forward hook that a function gives a layer each time that it
is called, or that an object gives it when a function makes that, is removed when the layer has run; unsafe, as what the
layer computes later may be meant to be kept. A list of
which each pass differentiates the end is emptied once that is read, if nothing else looks into it; one of which a
method reads but the last, behind what it surely puts there itself, begins anew with each call. What is a key
elsewhere, is compared by `is`, or is looked for in a list has no repair: a tensor that is detached is another one.
Unsafe if the value has history by assumption, or where a function of an imported file returns it, with a graph that is
still whole; where no detach is enough, so that the calls which begin the graph go under `no_grad`, but not inside of a
function that others may train through; where a copy of a list or a dict is stored that takes more behind that; where a
cache whose key changes in every pass keeps its current entry only; where other functions of a file read the list, which
nothing calls: if one empties it, that is called behind the step; and where what is stored has a tag, and a loop that
tests tags has a branch that no path has led to. Unsafe, too, where a setting that is written in the program, such as
`AUX = 0`, a parameter's default or an entry of a dict, turns off what differentiates it, or a class that nothing makes
does, which is derived from the one that keeps it, where a function returns what it gathers and others, which no run has
shown, call it, or only a file that trains nothing does under
`if __name__ == "__main__"`, where a loss is given the mere values as one of its terms, and nothing else trains what
they were made of, and where a record that a step returns behind its backward is made of the values, or lets go of its
graph while others may have it; and where a loss is computed behind the loop of the outputs in a list, of parameters
that nothing has trained before and that are not in `eval()` mode.

## When it stays silent
When any path differentiates what was stored after the pass that stored it (REINFORCE, losses summed after the loop), or
a test of its loop that was true in the first pass may lead there again (`if i / 4 == i // 4:`), or
another program of the same run that shares the file, when most of its graph waits for such a differentiation anyway,
when what one step has stored is detached behind its backward,
when a backward raises for want of a graph since it is given the mere values of what is stored
(`torch.tensor(losses).mean().backward()`), or trains nothing for want of it,
when a function returns what it made of the steps of a loop, but for what each has searched from a start of its own by
`torch.autograd.grad`, when the container is emptied or replaced in every pass,
when what counted steps have stored, a roll-out made anew each time, is read with `detach()`, unless these are many,
when a forward hook keeps it in an attribute that nobody in view reads, when files that train nothing keep it in a
public one that nothing in view reads, when a method of a network returns most of its
graph to callers out of view, or, in an imported file, a sequence that it goes on with until it finds its end, when
code out of view is given the network whose method stores it, which may train it, inside one `forward`, under
`no_grad`, where such a branch differentiates (`if is_learned: loss.backward()`), and in a test of pytest or unittest
that trains nothing, or in what that calls of other files.

## References
- https://docs.pytorch.org/docs/stable/notes/faq.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import Stored
from autodetach.machine.graph import Node
from autodetach.machine.growth import Growth, makers_of_returned
from autodetach.machine.program_values import Frame
from autodetach.machine.values import Sequence
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.program import Program, line, observed_of, stable, text

PART_OF_LOSS = "a loss takes the values for constants, which nothing else trains: they may be meant to be trained by it"


def find(program: Program) -> Iterator[Suspect]:
    for growth in program.growths:
        if growth.kind == "store" and growth.stored is not None:
            suspect = _suspect(program, growth)
            if suspect is not None:
                yield suspect


def _suspect(program: Program, growth: Growth) -> Suspect | None:
    from autodetach.candidates.current_entry import is_cached
    from autodetach.candidates.handed_back import with_doubt
    from autodetach.candidates.in_closures import keeping
    from autodetach.candidates.registries import of_registry
    from autodetach.view.begun_anew import is_differentiated_in_time
    from autodetach.view.held_by_chain import is_held_by_chain
    from autodetach.view.hooked import is_kept_for_others
    from autodetach.view.lifetime import comes_again, left_of, walked
    from autodetach.view.summed_lists import is_list_of_numbers
    from autodetach.view.told_by_tag import is_differentiated_where_not_reached
    from autodetach.view.unread_attributes import is_for_others

    stored = growth.stored
    assert stored is not None
    statement = program.statement(stored.site.node)
    if statement is None or stored.element is None or is_kept_for_others(program, stored.site.node):
        return None
    if is_list_of_numbers(stored) or is_differentiated_where_not_reached(program, stored):
        return None
    if is_for_others(program, growth, stored) or is_differentiated_in_time(program, growth):
        return None
    built, graph = f"`{text(stored.element)}`", "its autograd graph"
    if stored.gradient_of is not None:
        built, graph = f"the gradient of {built}", "the autograd graph of its gradient"
    elif keeping(stored.value):
        built, graph = f"what {built} closes over", "the autograd graph of what it closes over"
    story = [StoryStep(line(growth.node.site), f"every pass builds a new graph for {built}")]
    story += walked(growth)
    keeper = stored.observed or "the container refers to it"
    story.append(StoryStep(line(stored.site), keeper))
    story += comes_again(growth, "stores another one", "for as long as this loop runs", _until(stored))
    need = "nothing needs it once its key has changed" if is_cached(program, statement) else "only its value is used"
    need = "later passes do not read it" if growth.tails is not None else need
    return Suspect(
        ("AD102", stored.site.scope, program.spot(statement), stable(stored.element)),
        stored.element,
        f"`{text(stored.element)}` is stored with {graph} in every pass ({left_of(growth)}); {need}",
        Severity.WARNING if growth.dead else Severity.ERROR,
        tuple(story),
        growth.certain,
        () if growth.certain else (f"{program.place(growth.node.site)}: the value has history",),
        lambda: with_doubt(program, growth, of_registry(program, growth, _doubted(program, growth))),
        observed=_observed(program, growth.node, stored),
        lasts=lambda edited: is_held_by_chain(
            program, edited, growth, [growth.node], dies=_dies_with_loop(program, growth)
        ),
    )


def _dies_with_loop(program: Program, growth: Growth) -> bool:
    """Whether the container is a variable of the function that has the loop, and nothing else gets what is in it."""
    from autodetach.view.unread_attributes import holder_of

    frame, stored = growth.activation.frame, growth.stored
    if not isinstance(frame, Frame) or stored is None or stored.container.born < frame.started:
        return False
    if not isinstance(holder_of(program, stored), ast.Name):
        return False
    events = (*growth.run.machine.stored, *growth.run.machine.filled)
    is_alone = all(e.container is stored.container for e in events if e.node is growth.node)
    return is_alone and growth.node not in makers_of_returned(frame)


def _until(stored: Stored) -> str:
    """What ends the growth before its loop ends, if anything does."""
    container = stored.container
    if isinstance(container, Sequence) and container.maxlen is not None:
        return "until the deque is full"
    if isinstance(container, Sequence) and stored.how == "new key":
        return "until all places of the list are filled"
    return ""


def _observed(program: Program, node: Node, stored: Stored) -> tuple[str, ...]:
    """What only a run has shown: that the value has history, that something out of view keeps it."""
    kept = (f"{program.place(stored.site)}: {stored.observed}",) if stored.observed else ()
    return (*observed_of(program, (node,)), *kept)


def _doubted(program: Program, growth: Growth) -> Iterator[Candidate]:
    """What an object keeps between calls from elsewhere, and nothing in view reads, somebody else may differentiate."""
    from autodetach.candidates.stored_values import repairs_of_store
    from autodetach.machine.untrained import is_taken_for_constant
    from autodetach.view.told_apart import is_told_apart
    from autodetach.view.told_by_tag import asks_where_not_reached
    from autodetach.view.unread_attributes import is_read

    stored = growth.stored
    assert stored is not None
    if is_told_apart(program, stored):
        return
    doubt: str | None = "nothing in view reads what is kept: who does may differentiate it"
    if is_taken_for_constant(growth.run, {growth.node, *(e.node for e in growth.elements)}):
        doubt = PART_OF_LOSS
    elif growth.dead or growth.activation.node is not None or is_read(program, stored):
        doubt = asks_where_not_reached(program, stored)
    yield from (replace(c, doubt=c.doubt or doubt) for c in repairs_of_store(program, growth))


RULE = rule(__doc__, "AD102", "stored-history", find)
