'''A number is accumulated together with its autograd graph.

## What it does
Reports `total = total + loss`, `total += loss * n`, `stats["loss"] += loss`, moving averages and their like, where the sum
itself is never differentiated.

## Why is this bad
Every `loss` carries the graph that made it, and the sum links them all. If `loss.backward()` ran, its saved tensors are
freed but the nodes stay (some kilobytes a step); if nothing was differentiated, all activations stay until memory runs out.

## Example
```python
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    total += loss
```

## Use instead
```python
    total += loss.item()
```

## Fix safety
Safe: what is differentiated stays the same. `.item()` is used where the total starts as a number and is used as one,
`.detach()` where a tensor is needed later or where the value leaves the code in view. Unsafe only if the value has history by
assumption.

## When it stays silent
When any path differentiates the sum, when it is handed to code that is not in view before its graph was freed, and when the
values are numbers already.

## References
- https://docs.pytorch.org/docs/stable/notes/faq.html
'''

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.growth import Growth
from autodetach.rules.detaching import element_candidates, narrowed
from autodetach.rules.program import Program, line, stable, text
from autodetach.rules.suspect import Candidate, Suspect, rule


def find(program: Program) -> Iterator[Suspect]:
    for growth in program.growths:
        if growth.kind == "chain" and growth.linear:
            suspect = _suspect(program, growth)
            if suspect is not None:
                yield suspect


def _suspect(program: Program, growth: Growth) -> Suspect | None:
    statement = program.statement(growth.node.site.node)
    elements = [(narrowed(e.expression, e.node.site.operands if e.node.site.node is e.expression else ()), e.value)
                for e in growth.elements if e.expression is not None]
    if statement is None or not elements:
        return None
    target = _target(statement)
    name = text(target)
    where = line(growth.activation.node) if growth.activation.node is not None else 0
    story = [StoryStep(line(growth.elements[0].node.site), f"every pass builds a new graph for `{text(elements[0][0])}`")]
    if growth.freeing is not None:
        story.append(StoryStep(line(growth.freeing.site), "backward frees what it saved; its nodes live as long as it is referred to"))
    story.append(StoryStep(line(growth.node.site), f"`{name}` links it to the graphs of all earlier passes"))
    if where:
        story.append(StoryStep(where, "the next pass adds another one: memory grows for as long as this loop runs"))
    kept = "graph nodes" if growth.dead else "graph and all its activations"
    return Suspect(
        ("AD101", growth.node.site.scope, stable(statement)),
        statement,
        f"`{name}` keeps the autograd graph of every pass ({kept}); only its value is used",
        Severity.WARNING if growth.dead else Severity.ERROR,
        tuple(story),
        growth.certain,
        () if growth.certain else (f"line {line(growth.elements[0].node.site)}: the value has history",),
        lambda: _candidates(program, growth, elements),
    )


def _target(statement: ast.stmt) -> ast.AST | None:
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Assign):
        return statement.targets[0]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func = statement.value.func
        return func.value if isinstance(func, ast.Attribute) else func
    return statement


def _candidates(
    program: Program, growth: Growth, elements: list[tuple[ast.expr, object]]
) -> Iterator[Candidate]:
    moving = growth.node.op != "add" or not isinstance(growth.node.site.node, (ast.AugAssign, ast.BinOp))
    number = growth.starts_as_number or (moving and not _in_place(growth))
    yield from element_candidates(program, elements, number=number, what="accumulate")


def _in_place(growth: Growth) -> bool:
    """Whether the total is a tensor that is changed in place: it must stay one."""
    return isinstance(growth.node.site.node, ast.AugAssign) or growth.node.site.node.__class__ is ast.Call


RULE = rule(__doc__, "AD101", "accumulated-loss", find)
