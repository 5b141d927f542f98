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
A step is moved only if every step still consumes gradient of the same losses; unsafe where several optimizers share
the gradient, since one loss may be meant to be detached. Otherwise the second loss is computed behind the step: there
only, if nothing reads it before, else once more. That is unsafe: to detach may be what was meant.

## When it stays silent
When the forward is run again after the step, and when no changed tensor was saved.

## References
- https://docs.pytorch.org/docs/stable/notes/autograd.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import SecondWalk, StaleSaved
from autodetach.machine.graph import Differentiation, Site, diverge, trail_of, with_leaves
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.rules.program import (
    Program,
    assumptions_of,
    fault_of,
    is_assumed,
    line,
    observed_of,
    stable,
    statement_in,
    stepped_between,
    targets_of,
    text,
    without_retain,
)
from autodetach.rules.shared_graph import doubt_of, repeated_behind_step
from autodetach.rules.side_effects import draws_random_numbers
from autodetach.rules.suspect import Candidate, Suspect, rule

COPIED = "gradient through values of earlier passes may be what was meant"


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    for run in program.runs:
        for suspect in (*_changed(program, run), *_freed(program, run)):
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect


def _changed(program: Program, run: Run) -> Iterator[Suspect]:
    for event in run.machine.stale:
        if diverge(event.node.loops, event.by.loops) is None:
            first = next((d for d in event.node.walked_by if d.number < event.by.number), None)
            yield _suspect(program, run, event, first, event.by, event.changed)


def _freed(program: Program, run: Run) -> Iterator[Suspect]:
    """The graph is freed as well: retaining it would only trade one error for the other."""
    for event in run.machine.second_walks:
        if diverge(event.first.loops, event.second.loops) is None and stepped_between(run, event.first, event.second):
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
        ("AD202", by.scope, stable(by.call)),
        changed.node if isinstance(changed.node, (ast.expr, ast.stmt)) else by.call,
        f"`{text(changed.node)}` changes tensors in place that `{text(by.call)}` in {program.place(by.call)} "
        "still needs",
        Severity.ERROR,
        tuple(story),
        not is_assumed(event.path),
        assumptions_of(program, event.path),
        lambda: _candidates(program, run, event, by, changed),
        fault_of(by),
        observed_of(program, event.path),
    )


def _candidates(
    program: Program, run: Run, event: StaleSaved | SecondWalk, by: Differentiation, changed: Site
) -> Iterator[Candidate]:
    yield from _moved(program, run, by, changed)
    if isinstance(event, StaleSaved):
        yield from _copied(program, event)
    yield from _again(program, run, by)


def _moved(program: Program, run: Run, by: Differentiation, changed: Site) -> Iterator[Candidate]:
    """Move what changes tensors behind the last differentiation over the same graph."""
    from autodetach.codemods.move_statements import MoveStatements
    from autodetach.codemods.set_keyword import SetKeyword

    calls = [d for d in run.machine.differentiations if d.loops == by.loops and _shares(d, by)] or [by]
    if repeated_behind_step(run, calls):
        return
    last = calls[-1]
    anchor = program.statement(last.call)
    if anchor is None:
        return
    block = program.block(anchor)
    if anchor not in block:
        return
    earlier = block[: block.index(anchor)]
    steps = [s for s in earlier if _holds(program, s, changed) or _steps(run, s, by, calls[0])]
    if not steps:
        return
    over = block[block.index(steps[0]) + 1 : block.index(anchor) + 1]
    if any(_holds(program, s, changed) and _is_read(program, s, over) for s in steps):
        return  # what is computed from the changed tensor would be computed from the unchanged one
    doubt = doubt_of(run, calls)
    if doubt is None and _steps_are_read(run, steps, over, by):
        doubt = "what is computed behind the step would be computed with the parameters before it"
    retains = tuple(SetKeyword(d.call, "retain_graph", "True") for d in calls[:-1] if not d.retain and d.kind != "grad")
    shown = ", ".join(f"`{text(s)}`" for s in steps)
    yield Candidate(
        f"move {shown} behind `{text(last.call)}`",
        (MoveStatements(tuple(steps), anchor, before=False), *retains),
        doubt,
    )


def _copied(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    """A buffer that is written behind its use: compute with a copy of it, and write values without their graph."""
    from autodetach.codemods.append_method import AppendMethod

    statement = program.statement(event.changed.node)
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Subscript):
        return
    written = spelled(statement.targets[0].value)
    views = [e for e, value in event.node.site.operands if getattr(value, "storage", None) is event.storage]
    buffers = (n for e in views for n in ast.walk(e) if isinstance(n, (ast.Name, ast.Attribute)))
    read = next((n for n in buffers if spelled(n) == written), None)
    if read is None:
        return
    copy = AppendMethod(read, "clone")
    shown = f"compute with a copy of `{text(read)}`"
    yield Candidate(shown, (copy,), COPIED)
    yield Candidate(
        f"{shown}, and detach `{text(statement.value)}` where it is written",
        (copy, AppendMethod(statement.value, "detach")),
        COPIED,
    )


def _again(program: Program, run: Run, by: Differentiation) -> Iterator[Candidate]:
    """Run the forward again for the second differentiation, with the parameters as they are by then."""
    from autodetach.codemods.copy_statements import CopyStatements
    from autodetach.codemods.move_statements import MoveStatements

    step = max(
        (s.clock for s in run.machine.steps if s.clock < by.number and s.consumed and s.what != "grad"), default=0
    )
    trained = with_leaves(by.walked)
    old = [n for n in by.walked if n in trained and not n.leaf and n.number < step]
    for _, frame in reversed(by.trail):
        places = [statement_in(n, frame) for n in old]
        if all(p is not None for p in places):
            break
    else:
        return
    anchor = next(s for s, f in reversed(by.trail) if f is frame)
    block = program.block(anchor)
    around = [block, *[program.block(s) for s in program.enclosing(anchor) if isinstance(s, ast.stmt)]]
    statements = sorted({p for p in places if p is not None}, key=line)
    if not statements or not all(isinstance(s, (ast.Assign, ast.AnnAssign)) for s in statements):
        return
    if not all(any(s in b for b in around) for s in statements):
        return
    later = [s for s in block[: block.index(anchor) + 1] if line(s) > line(statements[-1])]
    first = _first_reader(program, later, statements, run, step)
    flags = without_retain(old)
    shown = ", ".join(f"`{text(t)}`" for s in statements for t in targets_of(s))
    doubt = "the second loss is then computed with the parameters after the step; a detach may be what was meant"
    goal = first or anchor
    if _is_free(program, block, statements, goal):
        yield Candidate(
            f"compute {shown} right before `{text(goal)}`",
            (MoveStatements(tuple(statements), goal), *flags),
            doubt,
        )
    if draws_random_numbers(run, statements):
        doubt += ", and random numbers are drawn again"
    yield Candidate(
        f"compute {shown} again before `{text(by.call)}`",
        (CopyStatements(tuple(statements), goal), *flags),
        doubt,
    )


def _is_free(program: Program, block: list[ast.stmt], statements: list[ast.stmt], goal: ast.stmt) -> bool:
    """Whether nothing up to `goal` reads what the statements bind, or binds what they read: they may as well run there.

    What they bind are names of their own function, which no other one reads.
    """
    if goal not in block or not all(s in block for s in statements):
        return False
    over = [s for s in block[block.index(statements[0]) : block.index(goal)] if s not in statements]
    if not over or not all(isinstance(n, ast.Name) for s in statements for t in targets_of(s) for n in _parts(t)):
        return False
    bound = {name for s in statements for name in program.names_bound(s)}
    read = {name for s in statements for name in program.names_read(s)}
    if any(bound & (program.names_read(s) | program.names_bound(s)) or read & program.names_bound(s) for s in over):
        return False
    scope = program.scope(goal)
    elsewhere = (n for n in ast.walk(scope) if isinstance(n, ast.Name) and n.id in bound)
    return all(program.scope(n) is scope for n in elsewhere)


def _parts(target: ast.expr) -> list[ast.expr]:
    return target.elts if isinstance(target, (ast.Tuple, ast.List)) else [target]


def _first_reader(
    program: Program, later: list[ast.stmt], statements: list[ast.stmt], run: Run, step: int
) -> ast.stmt | None:
    """The first statement behind the step that reads what the statements bind."""
    bound = {name for s in statements for name in program.names_bound(s)}
    stepping = {place for s in run.machine.steps if s.clock <= step for place, _ in s.trail}
    at = max((i for i, s in enumerate(later) if s in stepping), default=-1)
    return next((s for s in later[at + 1 :] if program.names_read(s) & bound), None)


def _holds(program: Program, statement: ast.stmt, site: Site) -> bool:
    """Whether the change in place is written inside of a statement."""
    return site.node is statement or statement in program.enclosing(site.node)


def _is_read(program: Program, change: ast.stmt, over: list[ast.stmt]) -> bool:
    """Whether one of the statements over which a change in place would move reads what it changes."""
    targets = targets_of(change) or _changed_by_method(change)
    changed = {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)} - {"self"}
    changed |= {spelled(n) for t in targets for n in ast.walk(t) if isinstance(n, ast.Attribute)}
    return any(
        isinstance(n, (ast.Name, ast.Attribute)) and spelled(n) in changed
        for s in over
        if s is not change
        for n in ast.walk(s)
    )


def _changed_by_method(change: ast.stmt) -> list[ast.expr]:
    """`out` of `out.add_(1)`."""
    calls = (n.func for n in ast.walk(change) if isinstance(n, ast.Call))
    return [func.value for func in calls if isinstance(func, ast.Attribute)]


def _steps_are_read(run: Run, steps: list[ast.stmt], over: list[ast.stmt], by: Differentiation) -> bool:
    """Whether the statements over which steps would move compute something with the stepped parameters."""
    made = [n for n in run.machine.nodes if any(s in over and s not in steps for s, _ in trail_of(n))]
    for step in run.machine.steps:
        if step.what != "grad" and any(s in steps for s, _ in step.trail):
            leaves = {leaf for leaf, _ in step.consumed}
            if any(
                n.number > step.clock and n.loops[: len(by.loops)] == step.loops
                for n in made
                if leaves & set(n.parents)
            ):
                return True
    return False


def _shares(d: Differentiation, other: Differentiation) -> bool:
    nodes = {n for n in other.walked if not n.leaf}
    return any(n in nodes for n in d.walked)


def _steps(run: Run, statement: ast.stmt, by: Differentiation, first: Differentiation) -> bool:
    """Whether a statement changed parameters between two differentiations."""
    return any(
        first.number < s.clock < by.number
        and s.what != "grad"
        and s.consumed
        and any(place is statement for place, _ in s.trail)
        for s in run.machine.steps
    )


RULE = rule(__doc__, "AD202", "step-between-backwards", find)
