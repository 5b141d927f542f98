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
differentiated at all, unless a loss is computed behind the loop, of parameters that nothing has trained before and that
are not in `eval()` mode. The state is detached where it enters the next pass, that of a generator behind its `yield`,
never inside a cell, and never where it still feeds the loss of its own pass. That of an object inside of others,
`tracks[i].feat`, is detached where it is set, so is one that stands beside None or a number, and one that two losses of
a pass come to, one behind the step of the other, though it feeds them. Where what makes it would then learn
nothing, the losses of a sequence are added up, and differentiated once behind it. A state that every epoch takes
through the same sequence begins anew with it, so does a sum that nothing ever sets back to its zero, or only an epoch
that begins, and what another loop calls in each of its passes, as `reset(net)`, is called in this one too, as
`super().reset()` is in an override that leaves it out: unsafe. So is dropping the test by which a layer begins its
state anew for another shape alone, where a loop over each sequence begins another state at zeros, and hands that to
the layer. So is emptying a list that nothing else reads when it has been used, and all that grow with it, and, where
something does, calling the method of its object that does so when a pass begins, or emptying it in the one that then
sets others of its attributes back, or in `__enter__` where each pass enters its object (`with recorder:`), and making
an object with a memo, which the loop asks for more than one value, in each pass instead of before it. A state that
retains its gradient is made a leaf again. What the first pass measures and keeps for all others (`if not self.begun:`)
is measured without its graph. What enters a running average in a method like `update_target`, or the largest number so
far, is detached there, if each loss still trains something without it; what each pass adds to a memory that only later
passes read, as it is added, if other losses train what makes it: unsafe. What a function returns, and a memory takes
whole, is detached in its `return`, if nothing else calls the function: unsafe. What is to be frozen by `requires_grad =
False` where it is no leaf, which raises, is detached there. What a module that the pass steps has made of the next
state, and `value = next_value` hands on, is computed again there: unsafe. A transform that every pass asks for the same
parameter is made without a cache, which would give what the first pass has made of it: unsafe where the file makes
several of its kind, or asks for an inverse. What a loop only asks a network for that keeps its state itself, and is
trained elsewhere, is computed without graph: unsafe.

## When it stays silent
When the state is detached, made anew, or under `no_grad`; in an unrolled loop with one backward behind it. Where
nothing differentiates it, also when a test in its loop has it begin anew now and then, as `if done:` does, in a
function that pytest or unittest calls and what that calls of other files, in a few steps whose state is a record
that each of them makes anew, in a method of a network that code out of view is given, which may train it, and in a few
steps of a script that only show a network which the program trains elsewhere.

## References
- https://docs.pytorch.org/docs/stable/notes/faq.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeGuard

from autodetach.finding import Severity, StoryStep
from autodetach.machine.activations import Pass, diverge, pass_of
from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.operands import expression_of
from autodetach.machine.run import Run
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.begun_anew import begins_anew
from autodetach.view.crossings import Crossed, crossings, passes_of_generator, window_begin
from autodetach.view.program import Program, assumptions_of, fault_of, is_assumed, line, observed_of, text
from autodetach.view.steps_between import changed_by_hand, stepped_between


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    for run in program.runs:
        for suspect in (*_errors(program, run), *_walked_again(program, run)):
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect
    written = {g.link.site.node for g in program.growths if g.linear and g.elements and _overwrites(g.link)}
    for growth in program.growths:
        if not written.isdisjoint(growth.through):
            continue  # `table[at] = 0.5 * table[at] + 0.5 * loss`: what is read there links it, too
        if growth.kind == "chain" and not growth.linear and (growth.dead or not begins_anew(program, growth)):
            from autodetach.candidates.growing_state import growing_state

            suspect = growing_state(program, growth)
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect


def _overwrites(link: Node | None) -> TypeGuard[Node]:
    """Whether a chain goes on by a part of a tensor that is written anew."""
    return link is not None and link.op == "__setitem__"


# ---- suspects


def _errors(program: Program, run: Run) -> Iterator[Suspect]:
    for walk in run.machine.second_walks:
        apart = diverge(walk.node.loops, walk.second.loops)
        apart = apart or passes_of_generator(walk.node, [walk.first], walk.second)
        if apart is not None:
            apart = apart[0], window_begin(run, walk.second, *apart)
            crossed = list(crossings(walk.second, apart[1]))
            if crossed:
                yield _raising(program, run, walk.second, walk.evidence, walk.first, apart, crossed)
    for stale in run.machine.stale:
        apart = diverge(stale.node.loops, stale.by.loops)
        apart = apart or passes_of_generator(stale.node, run.machine.differentiations, stale.by)
        if apart is not None:
            apart = apart[0], window_begin(run, stale.by, *apart)
            crossed = list(crossings(stale.by, apart[1]))
            if crossed:
                yield _raising(program, run, stale.by, stale.path, None, apart, crossed)


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
        crosses=True,
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
        crosses=True,
    )


def _candidates(
    program: Program, run: Run, d: Differentiation, now: Pass, crossed: list[Crossed], doubt: str | None = None
) -> Iterator[Candidate]:
    from autodetach.candidates.carried import for_carried_state  # a fourth of the project, which few files ask for

    return for_carried_state(program, run, d, now, crossed, doubt)


RULE = rule(__doc__, "AD302", "carried-state", find)
