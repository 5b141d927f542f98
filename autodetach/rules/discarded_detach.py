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

from autodetach.candidates.bound_results import bound_results, owners_of
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
        lambda: (Candidate(*repair, DOUBT) for repair in bound_results(program, fact.statement)),
    )


RULE = rule(__doc__, "AD402", "discarded-detach", find)
