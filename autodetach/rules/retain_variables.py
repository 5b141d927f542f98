"""`retain_variables` is the old name of `retain_graph`.

## What it does
Reports `backward(retain_variables=...)` on a tensor.

## Why is this bad
The keyword was renamed in PyTorch 0.2 and taken out in 0.4: every later version raises `TypeError: backward() got an
unexpected keyword argument 'retain_variables'`. Programs of that time also used it where nothing needs the graph again.

## Example
```python
loss_a.backward(retain_variables=True)
loss_b.backward()
```

## Use instead
```python
loss_a.backward(retain_graph=True)
loss_b.backward()
```

## Fix safety
Safe on a tensor: the program could only raise. The keyword is taken out where nothing walks the graph again. Unsafe
where it is not known what `backward` is called on, and where the error is swallowed, as by `except Exception`.

## When it stays silent
On classes with a `backward` of their own, and in programs that know both names: in an `except`, or behind a test of
`torch.__version__`.

## References
- https://github.com/pytorch/pytorch/releases/tag/v0.2.0
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.children import walk
from autodetach.machine.events import RenamedKeyword
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.program import Program, line, text

NEW = "retain_graph"
SWALLOWED = "the error is caught where this is called, and the program has gone on without what is differentiated here"


def find(program: Program) -> Iterator[Suspect]:
    seen: set[ast.AST] = set()
    for run in program.runs:
        for fact in run.machine.facts:
            if isinstance(fact, RenamedKeyword) and fact.keyword not in seen:
                seen.add(fact.keyword)
                if not _knows_both(program, fact.call):
                    yield _suspect(program, fact)


def _knows_both(program: Program, call: ast.Call) -> bool:
    """Whether the program comes here with an old PyTorch only, as far as can be told."""
    if any(isinstance(at, ast.ExceptHandler) for at in program.enclosing(call)):
        return True
    is_choice = any(isinstance(at, (ast.If, ast.IfExp)) for at in program.enclosing(call))
    return is_choice and any(
        isinstance(n, ast.Attribute) and n.attr == "__version__" for n in walk(program.file_of(call))
    )


def _suspect(program: Program, fact: RenamedKeyword) -> Suspect:
    keyword, call = fact.keyword, fact.call
    story = (StoryStep(line(keyword), f"`{keyword.arg}` is called `{NEW}` since PyTorch 0.2"),)
    return Suspect(
        ("AD403", spelled(call), *program.spot(call.func)),
        keyword,
        f"`{text(call)}` raises: `backward` has no `{keyword.arg}` any more",
        Severity.ERROR,
        story,
        fact.on_tensor,
        () if fact.on_tensor else (f"line {line(call)}: `{text(call.func)}` is that of a tensor",),
        lambda: _candidates(call, keyword, SWALLOWED if fact.swallowed else None),
        is_spelling=True,
    )


def _candidates(call: ast.Call, keyword: ast.keyword, doubt: str | None) -> Iterator[Candidate]:
    from autodetach.codemods.rename_keyword import RenameKeyword
    from autodetach.codemods.set_keyword import SetKeyword

    old = str(keyword.arg)
    if all(other.arg != NEW for other in call.keywords):
        yield Candidate(f"call it `{NEW}`", (RenameKeyword(keyword, NEW),), doubt)
    yield Candidate(f"remove `{old}`", (SetKeyword(call, old, None),), doubt)


RULE = rule(__doc__, "AD403", "retain-variables", find)
