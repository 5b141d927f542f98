'''A parameter step stands between two backward calls over one graph.

## What it does
Reports a differentiation that needs tensors which a parameter step (or another change in place) has changed since they were saved,
within one pass.

## Why is this bad
`RuntimeError: one of the variables needed for gradient computation has been modified by an inplace operation`. It is what
`retain_graph=True` turns the second-backward error into when an optimizer steps in between.

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
Safe if every step still consumes gradient of the same losses. Otherwise there is no fix, only the report: whether to compute the
second loss anew after the step, or to detach, is the author's decision.

## When it stays silent
When the forward is run again after the step, and when no changed tensor was saved.

## References
- https://docs.pytorch.org/docs/stable/notes/autograd.html
'''

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import SecondWalk, StaleSaved
from autodetach.machine.graph import Differentiation, diverge
from autodetach.machine.run import Run
from autodetach.rules.program import Program, fault_of, assumptions_of, is_assumed, line, stable, text
from autodetach.rules.suspect import Candidate, Suspect, rule


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    for run in program.runs:
        for event in run.machine.stale:
            if diverge(event.node.loops, event.by.loops) is not None:
                continue
            first = next((d for d in event.node.walked_by if d.number < event.by.number), None)
            suspect = _suspect(program, run, event, first)
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect


def _suspect(program: Program, run: Run, event: StaleSaved, first: Differentiation | None) -> Suspect:
    by = event.by
    story = [StoryStep(line(event.node.site), f"builds the graph; `{event.node.op}` saves tensors for backward")]
    if first is not None:
        story.append(StoryStep(line(first.call), f"`{text(first.call)}` walks it"))
    story.append(StoryStep(line(event.changed), "changes a saved tensor in place"))
    story.append(StoryStep(line(by.call), f"`{text(by.call)}` needs it as it was: PyTorch raises"))
    return Suspect(
        ("AD202", by.scope, stable(by.call)),
        event.changed.node if isinstance(event.changed.node, (ast.expr, ast.stmt)) else by.call,
        f"`{text(event.changed.node)}` changes tensors in place that `{text(by.call)}` in line {line(by.call)} still needs",
        Severity.ERROR,
        tuple(story),
        not is_assumed(event.path),
        assumptions_of(event.path),
        lambda: _candidates(program, run, event, first),
        fault_of(by),
    )


def _candidates(
    program: Program, run: Run, event: StaleSaved | SecondWalk, first: Differentiation | None
) -> Iterator[Candidate]:
    second = event.by if isinstance(event, StaleSaved) else event.second
    yield from behind_last(program, run, first, second)


def behind_last(
    program: Program, run: Run, first: Differentiation | None, second: Differentiation
) -> Iterator[Candidate]:
    """Move what changes tensors between two differentiations behind the last one over the same graph."""
    from autodetach.codemods.move_statements import MoveStatements
    from autodetach.codemods.set_keyword import SetKeyword

    calls = [d for d in run.machine.differentiations if d.loops == second.loops and _shares(d, second)]
    last = calls[-1] if calls else second
    anchor = program.statement(last.call)
    if anchor is None or first is None:
        return
    block = program.block(anchor)
    begin = program.statement(first.call)
    if begin not in block or anchor not in block:
        return
    between = block[block.index(begin) + 1 : block.index(anchor)]
    steps = [s for s in between if _changes(run, s, first, last)]
    if not steps:
        return
    retains = tuple(
        SetKeyword(d.call, "retain_graph", "True") for d in calls[:-1] if not d.retain and d.kind != "grad"
    )
    shown = ", ".join(f"`{text(s)}`" for s in steps)
    yield Candidate(
        f"move {shown} behind `{text(last.call)}`", (MoveStatements(tuple(steps), anchor, before=False), *retains)
    )


def _shares(d: Differentiation, other: Differentiation) -> bool:
    nodes = {n for n in other.walked if not n.leaf}
    return any(n in nodes for n in d.walked)


def _changes(run: Run, statement: ast.stmt, first: Differentiation, last: Differentiation) -> bool:
    """Whether a statement stepped parameters between two differentiations."""
    return any(
        first.number < s.clock < last.number and s.consumed and any(place is statement for place, _ in s.trail)
        for s in run.machine.steps
    )


RULE = rule(__doc__, "AD202", "step-between-backwards", find)
