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
(`torch.stack(losses)`, `acc.cpu()`), it stays a tensor: `x.detach()`, or `x.detach().clone()` where `x` is a
parameter or is changed in place. Where that is asked of an element of an array, the number is unsafe; and the tensor
is, where the value is rounded or added up, too, or goes where a number is known from a tensor. Unsafe where the error
is swallowed, as by `except Exception`, and the program has gone on without the value.

## When it stays silent
When the tensor is not proven to be 0-dim: rows of a matrix, elements of a vector, attributes called `data` of other
classes; where the same place reads something else on another path; and where the program asks which version of PyTorch
there is, or tries `item()` instead, or is ready for an `IndexError`.

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
from autodetach.machine.values import Opaque, Tensor
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.program import Program, line, text
from autodetach.view.wanted_tensors import Asked, asked_as_tensors

COPIERS = frozenset({"numpy", "tolist"})
"""What makes an array, or a number, of one value."""
BEFORE_COPY = COPIERS | {"squeeze", "cpu", "detach"}
"""What is not needed where the value is read."""
BOTH = "it is asked for what only tensors have, and is read as a number, too"
CUT = "the program asks another number for what only tensors have: what is read behind that is not known"

SWALLOWED = "the error is caught where this is called, and the program has gone on without what stands behind this"


def find(program: Program) -> Iterator[Suspect]:
    if not any(isinstance(fact, DataRead) for run in program.runs for fact in run.machine.facts):
        return
    asked = asked_as_tensors(program)
    # What has elements on one way, the machine may have taken for a scalar on another.
    seen = {node for run in asked.runs for node in run.machine.having_elements}
    for fact in sorted(_facts(asked), key=lambda fact: fact.alike):
        if fact.site.node not in seen:
            seen.add(fact.site.node)
            yield from _suspects(program, fact, asked)


def _suspects(program: Program, fact: DataRead, asked: Asked) -> Iterator[Suspect]:
    from autodetach.view.old_versions import is_chosen_by_version

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
    reader, doubt = _reader(program, whole or node, fact, asked)
    if any(each.swallowed for each in _facts(asked) if each.site.node is node):
        doubt = doubt or SWALLOWED
    candidates = partial(_candidates, whole or node, owner, reader, doubt)
    assumed = (f"`{text(owner)}` is a scalar, as it is where it is differentiated",) if fact.alike else ()
    yield Suspect(key, node, message, severity, story, not fact.alike, assumed, candidates, is_spelling=True)


def _asked_for_item(program: Program, node: ast.expr) -> ast.Call | None:
    """`loss.data[0].item()` around `loss.data[0]`."""
    method = program.parents.get(node)
    call = program.parents.get(method) if isinstance(method, ast.Attribute) and method.attr == "item" else None
    return call if isinstance(call, ast.Call) and call.func is method else None


def _reader(program: Program, node: ast.expr, fact: DataRead, asked: Asked) -> tuple[str, str | None]:
    """`item()`, and why a number may be wrong.

    `detach()` where a tensor is wanted: `loss.data[0].cpu()`, or `acc = loss.data[0]` and then `acc.cpu()`. Where the
    memory is changed behind that, it is copied.
    """
    if not fact.raises:
        return "item()", None
    if not isinstance(node, ast.Subscript) or not (
        node in asked.tensors or isinstance(program.parents.get(node), ast.Attribute)
    ):
        return "item()", CUT if asked.is_cut else None
    doubt = BOTH if node in asked.numbers else None
    return "detach()" if _is_computed(node, asked) else "detach().clone()", doubt


def _facts(asked: Asked) -> list[DataRead]:
    return [fact for run in asked.runs for fact in run.machine.facts if isinstance(fact, DataRead)]


def _is_computed(node: ast.expr, asked: Asked) -> bool:
    """Whether what is read is computed in every pass, and nowhere changed in place."""
    return all(_is_unchanged(fact.tensor) for fact in _facts(asked) if fact.site.node is node)


def _is_unchanged(read: object) -> bool:
    if isinstance(read, Opaque):
        owner = read.owner or read
        return owner.node is not None and not owner.node.leaf
    while isinstance(read, Tensor):
        if read.parameter or read.leaf_node is not None or read.storage.changes:
            return False
        if read.data_of is None and read.view_of is None:
            return True
        read = read.data_of or read.view_of
    return False


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
    """`doubt` is why what `reader` gives may be wrong."""
    from autodetach.codemods.replace_tail import ReplaceTail

    whole = isinstance(owner, (ast.Name, ast.Attribute, ast.Subscript, ast.Call))
    shown = text(owner) if whole else f"({text(owner)})"
    if reader != "item()" and isinstance(node, ast.Subscript) and _is_copied(node.value, owner):
        reader, doubt = "item()", "it is asked for what an element of an array has, and a number may not have"
    yield Candidate(f"read the value with `{shown}.{reader}`", (ReplaceTail(node, owner, f".{reader}"),), doubt)


def _is_copied(data: ast.expr, owner: ast.expr) -> bool:
    """Whether what is read is an array, or a list, that was made of `owner`."""
    at = data
    while at is not owner and isinstance(at, (ast.Call, ast.Attribute)):
        if _called(at) in COPIERS:
            return True
        at = at.func if isinstance(at, ast.Call) else at.value
    return False


RULE = rule(__doc__, "AD401", "data-index", find)
