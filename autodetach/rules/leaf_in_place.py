"""A trained tensor is changed in place where autograd records.

## What it does
Reports `w -= lr * w.grad`, `layer.weight[i] = row`, `p.mul_(0.9)`, `w.view(-1).zero_()` and their kin on a leaf that
requires grad, or on a view of one, outside of `no_grad`.

## Why is this bad
PyTorch raises: `a leaf Variable that requires grad is being used in an in-place operation`, or `a view of a leaf
Variable ...`. Often only in the pass in which codes are revived, a target network follows or a range is enforced.

## Example
```python
loss.backward()
for p in model.parameters():
    p -= lr * p.grad
```

## Use instead
```python
with torch.no_grad():
    for p in model.parameters():
        p -= lr * p.grad
```

## Fix safety
Safe where the change is an update by a gradient, or gives first values, and what is written has no history: the
program could only raise before. Unsafe elsewhere: what is written gets no gradient, and stays for good. A local name
that is changed and then computed with is given a new tensor instead (`w = w * mask`). Unsafe, too, where it is scaled
by what was computed from a gradient: who clips gradients means `p.grad.mul_(...)`, which is offered first.

## When it stays silent
Under `no_grad`, through `.data` or `detach()`, on what does not require grad; on a tensor that was moved, which may be
a copy; where the error is expected; inside of contexts and decorators that are not in view, and in functions that
nobody in view calls, unless they differentiate: who calls them may have turned gradients off. On paths that not every
run takes.

## References
- https://docs.pytorch.org/docs/stable/notes/autograd.html#in-place-operations-with-autograd
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import LeafChanged
from autodetach.machine.graph import Node
from autodetach.machine.run import Run
from autodetach.suspect import Suspect, rule
from autodetach.view.in_force import is_surely_recorded
from autodetach.view.program import Program, line, text

SIMPLE = (ast.Expr, ast.Assign, ast.AugAssign)


def find(program: Program) -> Iterator[Suspect]:
    events: dict[ast.stmt, list[LeafChanged]] = {}
    for run in program.runs:
        if run.is_usual:
            for event in _surely(program, run):
                statement = program.statement(event.site.node)
                if statement is not None:
                    events.setdefault(statement, []).append(event)
    seen: set[ast.stmt] = set()
    for statement in events:
        if statement not in seen:
            group = _group(program, statement, events)
            changing = [s for s in group if s in events]
            seen.update(changing)
            yield _suspect(program, group, changing, [e for s in changing for e in events[s]])


def _surely(program: Program, run: Run) -> Iterator[LeafChanged]:
    for event in run.machine.facts:
        if not isinstance(event, LeafChanged) or not _is_known(event.leaf):
            continue
        if is_surely_recorded(program, run, event.site, event.chain):
            yield event


def _is_known(leaf: Node) -> bool:
    """Whether a tensor surely requires grad, as nobody knows of the weights of a network out of view."""
    return not (leaf.weak or leaf.presumed or leaf.observed)


def _group(program: Program, statement: ast.stmt, events: dict[ast.stmt, list[LeafChanged]]) -> list[ast.stmt]:
    """The statements of a block from one that changes a leaf to the last one, if none between them has a graph."""
    block = program.block(statement)
    begin = end = block.index(statement)
    if not isinstance(statement, SIMPLE):
        return [statement]
    for at in range(begin + 1, len(block)):
        other = block[at]
        if not isinstance(other, SIMPLE) or (other not in events and program.has_graph(other)):
            break
        if other in events:
            end = at
    return block[begin : end + 1]


def _suspect(
    program: Program, group: list[ast.stmt], changing: list[ast.stmt], events: Sequence[LeafChanged]
) -> Suspect:
    from autodetach.candidates.changed_leaf import without_recording

    first, event = changing[0], events[0]
    shown = " and ".join(f"`{_shown(s)}`" for s in changing[:2])
    more = f" and {len(changing) - 2} more" if len(changing) > 2 else ""
    change = "changes" if len(changing) == 1 else "change"
    made = event.leaf.site
    maker = f"`{text(made.node)}` makes" if isinstance(made.node, ast.expr) else "makes"
    story = (
        StoryStep(line(made), f"{maker} the leaf, which requires grad"),
        StoryStep(line(first), f"`{_shown(first)}` changes it in place where autograd records: PyTorch raises"),
    )
    return Suspect(
        ("AD304", *program.spot(first)),
        first.value if isinstance(first, ast.Expr) else first,
        f"{shown}{more} {change} a leaf that requires grad in place, outside of `no_grad`",
        Severity.ERROR,
        story,
        True,
        (),
        lambda: without_recording(program, group, changing, events),
    )


def _shown(statement: ast.stmt) -> str:
    return text(statement.value if isinstance(statement, ast.Expr) else statement)


RULE = rule(__doc__, "AD304", "leaf-in-place", find)
