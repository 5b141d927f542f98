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
tensor is also known by another name, which keeps its history now. Of several such calls, all are repaired or none.

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

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import ViewDetached
from autodetach.machine.run import Run
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.program import Program, line, listed, text

Made = dict[ast.AST, None]
"""What makes the views that a call detaches, where they have history: in order, each once."""


def find(program: Program) -> Iterator[Suspect]:
    found: dict[ast.AST, list[ViewDetached]] = {}
    for fact in (fact for run in program.runs for fact in _facts(run)):
        found.setdefault(fact.site.node, []).append(fact)
    made: dict[ast.AST, Made] = {
        call: {fact.node.site.node: None for fact in facts if fact.node is not None} for call, facts in found.items()
    }
    for facts in found.values():
        yield _suspect(program, facts[0], made)


def _facts(run: Run) -> Iterator[ViewDetached]:
    return (fact for fact in run.machine.facts if run.machine.nodes and isinstance(fact, ViewDetached))


def _suspect(program: Program, fact: ViewDetached, every: dict[ast.AST, Made]) -> Suspect:
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
        lambda: _candidates(program, call, every),
        is_spelling=True,
        lasts=lambda edited: any(any(_facts(run)) for run in edited.runs),
    )


def _candidates(program: Program, call: ast.AST, every: dict[ast.AST, Made]) -> Iterator[Candidate]:
    """`detach()` in place of it, whose result is bound where it was dropped.

    Where that comes to nothing, since others hold the tensor, copies are detached instead of the views. The program
    only runs when no view is detached in place any more: what is repaired one by one is proven together.
    """
    from autodetach.candidates.bound_results import bound_results
    from autodetach.codemods.rename_method import RenameMethod
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.no_tensors import holds_others

    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
        return
    statement = program.statement(call)
    if isinstance(statement, ast.Expr) and _is_dropped(statement, call):
        methods = [n for n in ast.walk(statement.value) if isinstance(n, ast.Attribute) and n.attr == "detach_"]
        for repair in bound_results(program, statement, tuple(RenameMethod(m, "detach") for m in methods)):
            yield Candidate(*repair)
    else:
        yield Candidate("call `detach()` instead", (RenameMethod(call.func, "detach"),))
    views = list(dict.fromkeys(view for made in every.values() for view in made))
    tensors = [v for v in views if isinstance(v, (ast.Call, ast.Subscript)) and not holds_others(v)]
    copies = tuple(ReplaceExpression(view, "{}.clone()") for view in tensors)
    if copies and len(copies) == len(views):
        yield Candidate(f"make {listed(views)} {'a copy' if len(copies) == 1 else 'copies'}: `.clone()`", copies)


def _is_dropped(statement: ast.Expr, call: ast.Call) -> bool:
    """Whether what a call returns is dropped by its statement, where it stands alone, in a tuple or a comprehension."""
    value = statement.value
    parts = value.elts if isinstance(value, ast.Tuple) else [value.elt] if isinstance(value, ast.ListComp) else [value]
    return any(part is call for part in parts)


RULE = rule(__doc__, "AD404", "detached-view", find)
