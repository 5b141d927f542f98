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
On tensors without history, on `detach_()`, on methods called `detach` of other classes, and on what a network out of
view gives, unless something in view walks its graph: it may be an object of such a class.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.detach.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import DroppedDetach
from autodetach.machine.graph import Node
from autodetach.machine.marks import OUT_OF_VIEW
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.machine.torch_operations import OPS
from autodetach.machine.values import Opaque, Tensor
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.program import Program, line, listed, text

DOUBT = "gradients change where the old history was still used"


def find(program: Program) -> Iterator[Suspect]:
    seen: set[ast.AST] = set()
    for run in program.runs:
        for fact in run.machine.facts:
            if not isinstance(fact, DroppedDetach) or fact.statement in seen or fact.node.weak or fact.node.leaf:
                continue
            if _may_be_no_tensor(run, fact.node):
                continue
            seen.add(fact.statement)
            yield _suspect(program, fact)


def _may_be_no_tensor(run: Run, node: Node) -> bool:
    """Whether it is what a network out of view gave, and nothing in view tells that it is a tensor.

    It may be an object with states, whose own `detach()` works in place and gives nothing back.
    """
    whole = node
    while whole.op == "part" and len(whole.parents) == 1:
        whole = whole.parents[0]
    if any(n.walked_by for n in (node, whole)) or not _is_of_out_of_view(whole):
        return False
    return not any(_computes_with(n, node) for n in run.machine.nodes if node in n.parents)


def _is_of_out_of_view(node: Node) -> bool:
    return any(isinstance(v, Tensor) and v.extras is not None and OUT_OF_VIEW in v.extras for v in node.operands)


def _computes_with(made: Node, node: Node) -> bool:
    """Whether a function of PyTorch or arithmetic made it, which takes tensors, not a method of what it computes with.

    Such a method may be that of an object with states, as `memory.mean()`.
    """
    at = made.site.node
    if not isinstance(at, ast.Call):
        return isinstance(at, (ast.BinOp, ast.UnaryOp, ast.AugAssign))
    if made.assumed or made.op not in OPS or _is_of_out_of_view(made):
        return False
    method_of = at.func.value if isinstance(at.func, ast.Attribute) else None
    receiver = next((v for e, v in made.site.operands if e is method_of), None)
    return not (isinstance(receiver, (Tensor, Opaque)) and receiver.node is node)


def _suspect(program: Program, fact: DroppedDetach) -> Suspect:
    from autodetach.candidates.bound_results import bound_results, owners_of

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
        lambda: (Candidate(*repair, DOUBT) for repair in bound_results(program, fact.statement)),
    )


RULE = rule(__doc__, "AD402", "discarded-detach", find)
