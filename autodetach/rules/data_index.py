"""`loss.data[0]`, `loss[0]` and `loss.data.item()` for the value of a scalar.

## What it does
Reports `x.data[0]`, `x[0]`, `x.squeeze()[0]`, `x.data.numpy()[0]`, `x.data.tolist()[0]` and `x.data.item()` where `x`
is proven to be a 0-dim tensor.

## Why is this bad
`x.data[0]` and `x[0]` raise `IndexError: invalid index of a 0-dim tensor` in every PyTorch since 0.5, and `x.tolist()`
gives a number; before, what `loss` and `sum` gave had one element. `.data` goes behind autograd's back; for reading a
value there is `item()`.

## Example
```python
print(loss.data[0])
```

## Use instead
```python
print(loss.item())
```

## Fix safety
Safe: the value is the same. Where what follows asks the value for what tensors have and numbers have not
(`torch.stack(losses)`, `acc.cpu()`), it stays a tensor: `x.detach()`. Where that is asked of an element of an array,
the number is unsafe.

## When it stays silent
When the tensor is not proven to be 0-dim: rows of a matrix, elements of a vector, attributes called `data` of other
classes; where the same place reads something else on another path; and where the program asks which version of PyTorch
there is, or tries `item()` instead.

## References
- https://github.com/pytorch/pytorch/releases/tag/v0.4.0
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import partial

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import DataRead
from autodetach.machine.spelling import root_of, spelled
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.old_versions import is_chosen_by_version
from autodetach.view.program import Program, line, text
from autodetach.view.wanted_tensors import asked_as_tensors, ends_by_asking

COPIERS = frozenset({"numpy", "tolist"})
"""What makes an array, or a number, of one value."""
BEFORE_COPY = COPIERS | {"squeeze", "cpu", "detach"}
"""What is not needed where the value is read."""
CUT = "the program asks another number for what only tensors have: what is read behind that is not known"


def find(program: Program) -> Iterator[Suspect]:
    # What has elements on one way, the machine may have taken for a scalar on another.
    seen = {node for run in program.runs for node in run.machine.having_elements}
    facts = [fact for run in program.runs for fact in run.machine.facts if isinstance(fact, DataRead)]
    asked: frozenset[object] | None = None
    is_cut = False
    for fact in sorted(facts, key=lambda fact: fact.alike):
        if fact.site.node not in seen:
            seen.add(fact.site.node)
            if asked is None:
                asked, is_cut = asked_as_tensors(program), ends_by_asking(program)
            yield from _suspects(program, fact, asked, CUT if is_cut and fact.raises else None)


def _suspects(program: Program, fact: DataRead, asked: frozenset[object], doubt: str | None) -> Iterator[Suspect]:
    node = fact.site.node
    assert isinstance(node, (ast.Subscript, ast.Call))
    is_number = isinstance(node, ast.Subscript) and _called(node.value) == "tolist"
    if fact.raises and is_chosen_by_version(program, node, "TypeError" if is_number else "IndexError"):
        return
    owner = _owner(node)
    story = (StoryStep(line(node), f"`{text(owner)}` is a 0-dim tensor"),)
    if is_number:
        message = f"`{text(node)}` raises: `tolist()` of a 0-dim tensor gives a number"
    elif fact.raises:
        message = f"`{text(node)}` raises: a 0-dim tensor has no element 0"
    else:
        message = f"`{text(node)}` reads a value behind autograd's back"
    severity = Severity.ERROR if fact.raises else Severity.WARNING
    # Which of those that read alike: a repair of one must not move the others, even on its own line.
    key = ("AD401", spelled(node), *program.spot(root_of(owner)))
    whole = _asked_for_item(program, node)
    candidates = partial(_candidates, whole or node, owner, _reader(program, whole or node, fact, asked), doubt)
    assumed = (f"`{text(owner)}` is a scalar, as it is where it is differentiated",) if fact.alike else ()
    yield Suspect(key, node, message, severity, story, not fact.alike, assumed, candidates, is_spelling=True)


def _asked_for_item(program: Program, node: ast.expr) -> ast.Call | None:
    """`loss.data[0].item()` around `loss.data[0]`."""
    method = program.parents.get(node)
    call = program.parents.get(method) if isinstance(method, ast.Attribute) and method.attr == "item" else None
    return call if isinstance(call, ast.Call) and call.func is method else None


def _reader(program: Program, node: ast.expr, fact: DataRead, asked: frozenset[object]) -> str:
    """`item`; `detach` where a tensor is wanted: `loss.data[0].cpu()`, or `acc = loss.data[0]` and then `acc.cpu()`."""
    if not fact.raises or not isinstance(node, ast.Subscript):
        return "item"
    return "detach" if node in asked or isinstance(program.parents.get(node), ast.Attribute) else "item"


def _owner(node: ast.Subscript | ast.Call) -> ast.expr:
    """`loss` of `loss.data[0]`, `loss[0]`, `loss.data.item()`, `loss.squeeze()[0]`, `loss.data.cpu().numpy()[0]`.

    Of `loss.data.tolist()[0]` it is that, too.
    """
    data = node.value if isinstance(node, ast.Subscript) else node.func
    if isinstance(data, ast.Attribute) and data.attr == "item":
        data = data.value
    is_copied = _called(data) in COPIERS
    while _called(data) in (BEFORE_COPY if is_copied else ("squeeze",)):
        assert isinstance(data, ast.Call) and isinstance(data.func, ast.Attribute)
        data = data.func.value
    return data.value if isinstance(data, ast.Attribute) and data.attr == "data" else data


def _called(node: ast.expr) -> str:
    """The method that is called without arguments, or an empty string."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        return node.func.attr
    return ""


def _candidates(node: ast.Subscript | ast.Call, owner: ast.expr, reader: str, doubt: str | None) -> Iterator[Candidate]:
    """`doubt` is why a number may be wrong."""
    from autodetach.codemods.replace_tail import ReplaceTail

    whole = isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    shown = text(owner) if whole else f"({text(owner)})"
    if reader == "detach":
        doubt = None
    if reader == "detach" and isinstance(node, ast.Subscript) and _is_copied(node.value, owner):
        reader, doubt = "item", "it is asked for what an element of an array has, and a number may not have"
    yield Candidate(f"read the value with `{shown}.{reader}()`", (ReplaceTail(node, owner, f".{reader}()"),), doubt)


def _is_copied(data: ast.expr, owner: ast.expr) -> bool:
    """Whether what is read is an array, or a list, that was made of `owner`."""
    at = data
    while at is not owner and isinstance(at, (ast.Call, ast.Attribute)):
        if _called(at) in COPIERS:
            return True
        at = at.func if isinstance(at, ast.Call) else at.value
    return False


RULE = rule(__doc__, "AD401", "data-index", find)
