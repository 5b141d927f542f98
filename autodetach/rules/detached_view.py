"""A view is detached in place, which PyTorch refuses.

## What it does
Reports `detach_()` of a tensor that shares the memory of another one (`out[:, -1]`, `x.view(n, -1)`, what `chunk`,
`unbind`, `transpose` or `squeeze` return), whether it has history or not.

## Why is this bad
PyTorch raises: `Can't detach views in-place. Use detach() instead`. Often the same line had worked for years, on a
state that was no view yet.

## Example
```python
out, h = rnn(x, h)
last = out[-1]
last.detach_()
```

## Use instead
```python
last = last.detach()
```

## Fix safety
Safe where every gradient stays what the line says it should be: the program could only raise before. Unsafe where the
tensor is also known by another name, which keeps its history now.

## When it stays silent
On what is no view for certain, as what `reshape` returns of a transposed tensor, where the error is expected
(`except RuntimeError`), and in programs in which nothing has history.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach_.html
- https://docs.pytorch.org/docs/stable/tensor_view.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.bound_results import bound_results
from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import ViewDetached
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.program import Program, line, text


def find(program: Program) -> Iterator[Suspect]:
    seen: set[ast.AST] = set()
    for run in program.runs:
        for fact in run.machine.facts if run.machine.nodes else ():
            if isinstance(fact, ViewDetached) and fact.site.node not in seen:
                seen.add(fact.site.node)
                yield _suspect(program, fact)


def _suspect(program: Program, fact: ViewDetached) -> Suspect:
    call, made = fact.site.node, fact.node.site.node if fact.node is not None else None
    owner = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    shown = "it" if owner is None else f"`{text(owner)}`"
    end = StoryStep(line(fact.site), f"`{text(call)}` would take the history of {shown} alone: PyTorch raises")
    begin = "is a view: it shares the memory of another tensor"
    story = (end,) if made is None else (StoryStep(line(made), f"`{text(made)}` {begin}"), end)
    return Suspect(
        ("AD404", *program.spot(call)),
        call,
        f"`{text(call)}` raises: {shown} is a view, which cannot be detached in place",
        Severity.ERROR,
        story,
        True,
        (),
        lambda: _candidates(program, call, made),
    )


def _candidates(program: Program, call: ast.AST, made: ast.AST | None) -> Iterator[Candidate]:
    """`detach()` in place of it, whose result is bound where it was dropped.

    Where that comes to nothing, since others hold the tensor, a copy is detached instead of the view.
    """
    from autodetach.codemods.rename_method import RenameMethod
    from autodetach.codemods.replace_expression import ReplaceExpression

    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return
    statement = program.statement(call)
    if isinstance(statement, ast.Expr) and _is_dropped(statement, call):
        methods = [n for n in ast.walk(statement.value) if isinstance(n, ast.Attribute) and n.attr == "detach_"]
        for repair in bound_results(program, statement, tuple(RenameMethod(m, "detach") for m in methods)):
            yield Candidate(*repair)
    else:
        yield Candidate("call `detach()` instead", (RenameMethod(call.func, "detach"),))
    if isinstance(made, (ast.Call, ast.Subscript)):
        yield Candidate(f"make `{text(made)}` a copy: `.clone()`", (ReplaceExpression(made, "{}.clone()"),))


def _is_dropped(statement: ast.Expr, call: ast.Call) -> bool:
    """Whether what a call returns is dropped by its statement, where it stands alone, in a tuple or a comprehension."""
    value = statement.value
    parts = value.elts if isinstance(value, ast.Tuple) else [value.elt] if isinstance(value, ast.ListComp) else [value]
    return any(part is call for part in parts)


RULE = rule(__doc__, "AD404", "detached-view", find)
