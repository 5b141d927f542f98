'''`h.detach()` as a statement does nothing.

## What it does
Reports a call of `detach()` whose result is dropped, on a tensor that has history.

## Why is this bad
`detach()` returns a new tensor and leaves the old one as it was, so the state that was meant to be cut keeps its graph. It is the
usual reason why the second backward still raises "after detaching".

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
'''

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import DroppedDetach
from autodetach.rules.program import Program, line, text
from autodetach.rules.suspect import Candidate, Suspect, rule

DOUBT = "gradients change where the old history was still used"


def find(program: Program) -> Iterator[Suspect]:
    seen: set[ast.AST] = set()
    for run in program.runs:
        for fact in run.machine.facts:
            if isinstance(fact, DroppedDetach) and fact.statement not in seen:
                node = getattr(fact.value, "node", None)
                if node is not None and not node.weak and not node.leaf:
                    seen.add(fact.statement)
                    yield _suspect(program, fact)


def _suspect(program: Program, fact: DroppedDetach) -> Suspect:
    call = fact.statement.value
    assert isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
    owner = call.func.value
    made = getattr(fact.value, "node").site
    story = (
        StoryStep(line(made), f"builds the graph of `{text(owner)}`"),
        StoryStep(line(call), "makes a detached copy and drops it: the graph stays"),
    )
    return Suspect(
        ("AD402", fact.site.scope, ast.unparse(fact.statement)),
        call,
        f"`{text(call)}` does nothing: its result is dropped",
        Severity.WARNING,
        story,
        True,
        (),
        lambda: _candidates(program, fact.statement, owner),
    )


def _candidates(program: Program, statement: ast.Expr, owner: ast.expr) -> Iterator[Candidate]:
    from autodetach.codemods.replace_statement import ReplaceStatement

    loop = program.parents.get(statement)
    if isinstance(loop, ast.For) and isinstance(loop.target, ast.Name) and text(owner) == loop.target.id:
        if isinstance(loop.iter, (ast.Name, ast.Attribute)) and len(loop.body) == 1 and not loop.orelse:
            state, name = ast.unparse(loop.iter), loop.target.id
            inner = f"{name}.detach() for {name} in {state}"
            for new in (f"tuple({inner})", f"[{inner}]"):
                yield Candidate(f"rebind `{state}` to detached tensors", (ReplaceStatement(loop, f"{state} = {new}"),), DOUBT)
        return
    bound_by_loop = {
        name
        for at in program.enclosing(statement)
        if isinstance(at, (ast.For, ast.AsyncFor))
        for name in program.names_bound(at.target)
    }
    if isinstance(owner, ast.Name) and owner.id in bound_by_loop:
        return  # rebinding the variable of the loop would be dropped too
    if isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript)):
        name = ast.unparse(owner)
        yield Candidate(
            f"rebind: `{name} = {name}.detach()`", (ReplaceStatement(statement, f"{name} = {name}.detach()"),), DOUBT
        )


RULE = rule(__doc__, "AD402", "discarded-detach", find)
