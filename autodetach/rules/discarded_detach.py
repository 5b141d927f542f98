"""`h.detach()` as a statement does nothing.

## What it does
Reports a call of `detach()` whose result is dropped, on a tensor that has history.

## Why is this bad
`detach()` returns a new tensor and leaves the old one as it was, so the state that was meant to be cut keeps its
graph. It is the usual reason why the second backward still raises "after detaching".

## Example
```python
for x in loader:
    out, h = rnn(x, h)
    h.detach()
```

## Use instead
```python
    h = h.detach()
```

## Fix safety
Unsafe: the program's gradients change where the old history was still used.

## When it stays silent
On tensors without history, on `detach_()`, and on methods called `detach` of other classes.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import DroppedDetach
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.program import Program, line, listed, text

DOUBT = "gradients change where the old history was still used"


def find(program: Program) -> Iterator[Suspect]:
    seen: set[ast.AST] = set()
    for run in program.runs:
        for fact in run.machine.facts:
            if not isinstance(fact, DroppedDetach) or fact.statement in seen or fact.node.weak or fact.node.leaf:
                continue
            seen.add(fact.statement)
            yield _suspect(program, fact)


def _suspect(program: Program, fact: DroppedDetach) -> Suspect:
    made = fact.node.site
    dropped = fact.statement.value
    owners = owners_of(dropped)
    shown = listed(owners)
    story = (
        StoryStep(line(made), f"builds the graph of {shown}"),
        StoryStep(line(dropped), "makes a detached copy and drops it: the graph stays"),
    )
    return Suspect(
        ("AD402", program.home(fact.statement), spelled(fact.statement)),
        dropped,
        f"`{text(dropped)}` does nothing: its result is dropped",
        Severity.WARNING,
        story,
        True,
        (),
        lambda: _candidates(program, fact.statement, owners),
    )


def owners_of(dropped: ast.expr) -> tuple[ast.expr, ...]:
    """`h` of `h.detach()`, `h` and `c` of `h.detach(), c.detach()`, `hs` of `[h.detach() for h in hs]`."""
    if isinstance(dropped, ast.Call) and isinstance(dropped.func, ast.Attribute):
        return (dropped.func.value,)
    if isinstance(dropped, ast.Tuple):
        return tuple(o for part in dropped.elts for o in owners_of(part))
    if isinstance(dropped, ast.ListComp):
        return (dropped.generators[0].iter,)
    return ()


def _candidates(program: Program, statement: ast.Expr, owners: tuple[ast.expr, ...]) -> Iterator[Candidate]:
    from autodetach.codemods.assign_result import AssignResult
    from autodetach.codemods.replace_statement import ReplaceStatement

    shown = listed(owners)
    loop = program.parents.get(statement)
    if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and text(owners[0]) == loop.target.id:
        if isinstance(loop.iter, (ast.Name, ast.Attribute)) and len(loop.body) == 1 and not loop.orelse:
            inner = f"{loop.target.id}.detach() for {loop.target.id} in {{0}}"
            for new in (
                (f"[{inner}]", f"tuple({inner})") if _is_list(program, loop.iter) else (f"tuple({inner})", f"[{inner}]")
            ):
                repair = ReplaceStatement(loop, f"{{0}} = {new}", (loop.iter,))
                yield Candidate(f"rebind `{text(loop.iter)}` to detached tensors", (repair,), DOUBT)
        return
    bound_by_loop = {
        name
        for at in program.enclosing(statement)
        if isinstance(at, (ast.For, ast.AsyncFor))
        for name in program.names_bound(at.target)
    }
    if any(isinstance(o, ast.Name) and o.id in bound_by_loop for o in owners):
        return  # rebinding the variable of the loop would be dropped too
    if owners and all(isinstance(o, (ast.Name, ast.Attribute, ast.Subscript)) for o in owners):
        yield Candidate(f"bind the result to {shown}", (AssignResult(statement, owners),), DOUBT)


def _is_list(program: Program, name: ast.expr) -> bool:
    """Whether the name is bound to a list somewhere in the file."""
    shown = spelled(name)
    return any(
        isinstance(n, ast.Assign)
        and isinstance(n.value, (ast.List, ast.ListComp))
        and any(spelled(t) == shown for t in n.targets)
        for n in ast.walk(program.file_of(name))
    )


RULE = rule(__doc__, "AD402", "discarded-detach", find)
