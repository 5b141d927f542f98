"""What is differentiated has lost its history on the way.

## What it does
Reports a `backward()`, or `autograd.grad`, of a tensor that was made of values alone: of `torch.tensor(losses)`, also
where these are numbers that `.item()` or `float()` gave, of `.detach()` or `.data`, of what was computed under
`torch.no_grad()`, of what numpy has computed, of an operation that has no gradient, as `argmax` or a comparison, or of
what `torch.autograd.grad` has given that was not asked to `create_graph`: so do penalties and second derivatives. And
it reports the `backward()` of such a number itself, or of a sum of some.
So it does where such a tensor was told to require grad, and nobody takes its gradient, and where it is a term beside
others: `torch.tensor(log_probs)`, or `torch.tensor([self.a, self.b])` of parameters themselves, of which an optimizer
steps parameters that nothing else trains. And it reports a term that is only added to a loss, and was made of nothing
but such copies, and of the values of parameters that the other terms train: `l2 * layer.weight.data.norm()`. Where
nobody reads the sum, it reports such a term that is a number, or is detached before it is compared, as by a hook that
gives features. Last, it reports the `step` of an optimizer whose parameters never get a gradient, where the loss is
made of what these compute under `torch.no_grad()`, or of what is detached of it.

## Why is this bad
PyTorch raises: `element 0 of tensors does not require grad and does not have a grad_fn`; of a number, Python says that
`'float' object has no attribute 'backward'`. Often the answer that is given, `loss.requires_grad_()`, makes the error
go away, and nothing is trained. Beside another term there is no error.

## Example
```python
losses = [criterion(model(x), y) for x, y in batch]
loss = torch.tensor(losses).mean()
loss.backward()
```

## Use instead
```python
loss = torch.stack(losses).mean()
loss.backward()
```

## Fix safety
Safe where the tensors themselves, or `torch.stack`, take the place of `torch.tensor`, or of numbers, and where the
`step` of an optimizer calls its closure, or what computes and differentiates is put, under `torch.enable_grad()`: the
program could only raise before. What was copied and is changed in place is a clone. Unsafe where what follows
`torch.set_grad_enabled(False)` in a function is put under `torch.no_grad()` instead, since all that runs behind it has
gradients on then, and where what is put there steps parameters that were there before gradients were turned off: a
validation would train what it evaluates. Where the tensors are known to have one dimension it is `torch.cat`, since
`torch.tensor` takes one of one element for a number; where it is not known whether they have any, it is unsafe, unless
only their sum or mean is taken; where some have and some have not, it is not repaired. Unsafe where the same tensors
are copied several times, or their copy becomes the weights of itself, which may be meant as constants. Unsafe also for
`x.new_tensor(losses)`, which has the type of `x`, where numbers or a `dtype` may give the new tensor another type than
the tensors have, or it is put on a `device`, and something is computed with it that may mind; and where a `detach`
(also one on the way to numpy and back), a `@torch.no_grad()` or a `with torch.no_grad():` goes away, since more is
trained then; and for lists of which a filter may leave nothing, where the tensor does not go straight into the
backward: of that, a test may keep an empty one. Unsafe, too, where a gradient is taken with `create_graph=True`, since
all that reads it has to bear its history, and where nothing raises: what the tensor was told to require goes with it,
and more is trained. Operations without a gradient are not repaired, nor are numbers that others read, too, and what
numpy computes: what was meant is their author's to say. So it is with a `with torch.no_grad():` that makes several
things, as a value and its target.

## When it stays silent
Where anything that the tensor was made of is not in view, where a test decides whether history is lost, where the error
is expected (`except RuntimeError`), and where nothing on the way ever had history. Where nothing raises, also where the
gradient of the tensor is read, or steps it, where no optimizer steps parameters that have got no gradient, and where
the values stand beside other terms and anything else trains what they were made of: they may be meant as constants. Of
a term that is only added, also where `.item()`, `no_grad` or `detach()` says that its values are meant, as where the
sum is shown, or they correct another term; where what it is added to is no sum any more when it is differentiated,
where something differentiates what it is made of, or a sum multiplies by zero, and where it holds values of earlier
passes. Of weights, also where their gradient may come in another way: by `weight_decay` or an optimizer that decays by
itself, by a hook, `.grad` or a change in place, or by a call that differentiates them besides. Of a `step` that finds
no gradient, and of a parameter that is copied and nothing trains, in all programs that may have a gradient for it
elsewhere: where a test decides what is cut off, or any function, branch or class of the program is not run; where what
copies is picked, as from a dict, a parameter of the same place is trained elsewhere, as in another network, a rate is
zero, or one of several is not known, or the training draws values by `nn.init`; where gradients are set or read by
hand, parameters are frozen or changed by hand, or hooks are registered; where the optimizer is not asked to
`zero_grad`; and where anything is imported but PyTorch, numpy, and what is usual of the standard library.

## References
- https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation
- https://docs.pytorch.org/docs/stable/generated/torch.tensor.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import HistoryLost, Step
from autodetach.machine.graph import (
    ARRAY,
    COPIED,
    DETACHED,
    DISCRETE,
    GATHERED,
    GRADIENT,
    NUMBER,
    OFF,
    Lost,
    Node,
)
from autodetach.machine.idle_steps import idle_steps
from autodetach.machine.run import Run
from autodetach.machine.spelling import called_name
from autodetach.machine.untrained import trains_nothing
from autodetach.once import once
from autodetach.suspect import Suspect, rule
from autodetach.view.meant_values import is_frozen, is_meant_as_value
from autodetach.view.program import Program, line, text

WITHOUT = {
    ARRAY: "gives numpy the value, which records no history",
    COPIED: "copies the value into a new tensor, without history",
    GATHERED: "copies the values into a new tensor, without history",
    NUMBER: "reads the value as a number, which has no history",
    DETACHED: "has the value, and no history",
    DISCRETE: "has no gradient: its result has no history, whatever it is made of",
    GRADIENT: "gives the value of a gradient, and no history: it is not asked to `create_graph`",
    OFF: "is computed where gradients are off: no history is recorded",
}

OF_A_NUMBER = "asks a number for what only tensors have: Python raises"
LEFT_OFF = "turns gradients off for all that runs behind it: nothing turns them on again"


def find(program: Program) -> Iterator[Suspect]:
    """On the first path, where no other one shows that a test decides: as where a state is detached now and then."""
    seen: set[ast.AST] = set()
    first = program.runs[0]
    for fact in _facts(first) if first.whole and first.stop is None else ():
        at = fact.beside.site.node if fact.added and fact.beside is not None else fact.site.node
        is_lost = at not in seen and all(_is_lost(run, fact) for run in program.runs)
        if is_lost and not is_meant_as_value(program, fact) and not is_frozen(program, fact):
            seen.add(at)
            yield _suspect(program, fact) if fact.raises else _silent(program, fact)
    for step, fact in idle_steps(program.analysis):
        if step.site.node not in seen:
            yield _idle(program, step, fact)


@once
def _facts(run: Run) -> list[HistoryLost]:
    facts = (fact for fact in run.machine.facts if isinstance(fact, HistoryLost))
    return [fact._replace(lost=lost) for fact in facts if (lost := trains_nothing(run, fact))]


@once
def _facts_at(run: Run, call: ast.AST) -> list[HistoryLost]:
    return [fact for fact in _facts(run) if fact.site.node is call]


@once
def _terms(run: Run) -> frozenset[Node]:
    """What terms without history are added to something else in."""
    return frozenset(fact.beside for fact in _facts(run) if fact.added and fact.beside is not None)


def _is_lost(run: Run, fact: HistoryLost) -> bool:
    """Whether a path finds no history at a call, if it comes there; or in a term, wherever it is added."""
    from autodetach.view.by_call import at_call

    call = fact.site.node
    given = at_call(run, call)
    if not fact.added or fact.beside is None:
        return not given or any(not other.added for other in _facts_at(run, call)) or not _comes_there(run, fact)
    place, told = fact.beside.site.node, _terms(run)
    is_builtin = isinstance(place, ast.Call) and called_name(place) == "sum"  # it adds one after the other
    for d in given:
        sums = {node for node in d.walked if node.site.node is place}
        if not (told & sums if is_builtin and sums else sums <= told):
            return False
    return True


def _comes_there(run: Run, fact: HistoryLost) -> bool:
    """Whether a path runs the calls that lead to where it raises: it may differentiate at the same place otherwise."""
    return all(statement in run.machine.executed for statement, _ in fact.trail[:-1])


def _suspect(program: Program, fact: HistoryLost) -> Suspect:
    from autodetach.candidates.left_off import left_off
    from autodetach.candidates.with_history import with_history

    call = fact.site.node
    last = max(fact.lost, key=lambda one: one.node.number)
    is_number = all(one.how == NUMBER for one in fact.lost)
    end = OF_A_NUMBER if is_number else "finds no history to walk: PyTorch raises"
    has = "requires gradient" if last.node.leaf else "has history"
    switch = left_off(program, fact)
    story = (
        StoryStep(line(last.node.site), f"`{text(last.node.site.node)}` {has}"),
        *([] if switch is None else [StoryStep(line(switch), f"`{text(switch)}` {LEFT_OFF}")]),
        StoryStep(line(last.place), f"`{text(last.place)}` {WITHOUT[last.how]}"),
        StoryStep(line(call), f"`{text(call)}` {end}"),
    )
    return Suspect(
        ("AD501", *program.spot(call)),
        call,
        f"`{text(call)}` raises: what it differentiates has lost its history in {program.place(last.place)}",
        Severity.ERROR,
        story[0 if line(last.node.site) and last.node.site.node is not last.place else 1 :],
        True,
        (),
        lambda: with_history(program, fact),
    )


def _silent(program: Program, fact: HistoryLost) -> Suspect:
    """What raises nothing, and trains less than it seems to."""
    from autodetach.candidates.begun_again import with_its_own_history

    call = fact.site.node
    last = max(fact.lost, key=lambda one: one.node.number)
    place = program.place(last.place)
    shown = f"`{text(last.node.site.node)}`"
    if fact.added and fact.beside is not None:
        return _added(program, fact, fact.beside, last)
    is_asked = any(d.call is call and d.kind == "grad" for d in program.runs[0].machine.differentiations)
    if fact.begun:
        begun = fact.begun[0].site
        does = "gives no gradient" if is_asked else "trains nothing"
        told = f"`{text(call)}` {does}: what it differentiates has lost its history in {place}"
        ends: tuple[StoryStep, ...] = (
            StoryStep(line(begun), f"`{text(begun.node)}` lets a graph begin there, so that PyTorch does not raise"),
            StoryStep(line(call), f"`{text(call)}` comes to its end there: no parameter gets a gradient"),
        )
    else:
        told = f"`{text(call)}` does not train what {shown} computes: that has lost its history in {place}"
        if last.node.leaf:
            told = f"`{text(call)}` does not train {shown}: only its value goes into `{text(last.place)}` in {place}"
        ends = (StoryStep(line(call), f"`{text(call)}` walks the other terms only, so that PyTorch does not raise"),)
    has = "requires gradient" if last.node.leaf else "has history"
    story = (
        StoryStep(line(last.node.site), f"{shown} {has}"),
        StoryStep(line(last.place), f"`{text(last.place)}` {WITHOUT[last.how]}"),
        *ends,
    )
    return Suspect(
        ("AD501", *program.spot(call)),
        call,
        told,
        Severity.ERROR,
        story[0 if last.node.site.node is not last.place else 1 :],
        True,
        (),
        lambda: with_its_own_history(program, fact),
    )


def _added(program: Program, fact: HistoryLost, total: Node, last: Lost) -> Suspect:
    """A term that nothing differentiates, since it is made of values alone."""
    from autodetach.candidates.begun_again import with_its_own_history

    place, call = total.site.node, fact.site.node
    shown = f"`{text(last.place if last.node.leaf else last.node.site.node)}`"
    does = "has no history" if last.node.leaf else "has lost its history"
    story = (
        StoryStep(line(last.place), f"`{text(last.place)}` {WITHOUT[last.how]}"),
        StoryStep(line(place), f"`{text(place)}` adds what is made of it, and of nothing that has history"),
        StoryStep(line(call), f"`{text(call)}` walks the other terms only: to the gradient, this one is a constant"),
    )
    return Suspect(
        ("AD501", *program.spot(place)),
        place,
        f"`{text(place)}` adds a constant, which trains nothing: {shown} {does} in {program.place(last.place)}",
        Severity.ERROR,
        story,
        True,
        (),
        lambda: with_its_own_history(program, fact),
    )


def _idle(program: Program, step: Step, fact: HistoryLost) -> Suspect:
    """A step that has nothing to step with, whatever is differentiated."""
    from autodetach.candidates.without_mode import for_its_step

    at = step.site.node
    last = max(fact.lost, key=lambda one: one.node.number)
    place = program.place(last.place)
    story = (
        StoryStep(line(last.place), f"`{text(last.place)}` {WITHOUT[last.how]}"),
        StoryStep(line(fact.site), f"`{text(fact.site.node)}` finds no history there to walk"),
        StoryStep(line(at), f"`{text(at)}` steps parameters that never have a gradient: it does nothing"),
    )
    return Suspect(
        ("AD501", *program.spot(at)),
        at,
        f"`{text(at)}` trains nothing: what its parameters compute has lost its history in {place}",
        Severity.ERROR,
        story,
        True,
        (),
        lambda: for_its_step(program, fact),
    )


RULE = rule(__doc__, "AD501", "lost-history", find)
