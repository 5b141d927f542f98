"""A tensor that is kept with its autograd graph is deep-copied.

## What it does
Reports `copy.deepcopy(model)` where a module, or another object or container in what is copied, keeps a tensor with its
graph: the last attention map, the last features, the last loss.

## Why is this bad
PyTorch raises: `Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at the
moment`, far from the line that keeps the tensor; and the graph of the last step stays in memory until then.

## Example
```python
import copy

output = model(x)
model.last = output
criterion(output, y).backward()
best = copy.deepcopy(model)
```

## Use instead
```python
model.last = output.detach()
```

## Fix safety
Safe: what is differentiated stays the same, and the program could only raise before. Where something differentiates
through what is kept, it is detached behind that, at the latest before the copy. Unsafe where nothing in view reads what
is kept, or where other programs may share the file.

## When it stays silent
When what is kept has no graph where it is copied, when a class says itself how it is copied (`__deepcopy__`,
`__getstate__`), when a `memo` is handed over, when the error is expected, when somebody out of view calls what copies,
or may have frozen the network or turned gradients off, and on paths that not every run takes.

## References
- https://github.com/pytorch/pytorch/issues/54580
"""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import HistoryCopied
from autodetach.machine.graph import Node
from autodetach.machine.run import Run
from autodetach.node_types import DEFINITIONS
from autodetach.suspect import Suspect, rule
from autodetach.view.in_force import entry_of, is_surely_recorded
from autodetach.view.program import Program, line, text


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    for run in program.runs:
        for event in run.machine.facts:
            if not isinstance(event, HistoryCopied) or not run.is_usual or not _is_sure(program, run, event):
                continue
            suspect = _suspect(program, run, event)
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect


def _is_sure(program: Program, run: Run, event: HistoryCopied) -> bool:
    """Whether what is copied surely has history, and is copied by those in view who have made it.

    Of a network that nobody in view trains, parameters may be frozen, or gradients be off.
    """
    if not is_surely_recorded(program, run, event.node.site, event.node.chain):
        return False
    entry = entry_of(event.chain)
    is_called = isinstance(entry, DEFINITIONS)
    return _is_known(event.node) and (not is_called or entry_of(event.node.chain) is entry)


def _is_known(node: Node) -> bool:
    """Whether a way that nothing is assumed of leads from a node to a leaf that surely requires grad."""
    stack, seen = [node], set[Node]()
    while stack:
        at = stack.pop()
        if at in seen or at.weak or at.assumed or at.presumed or at.observed:
            continue
        if at.leaf:
            return True
        seen.add(at)
        stack.extend(at.parents)
    return False


def _suspect(program: Program, run: Run, event: HistoryCopied) -> Suspect:
    from autodetach.candidates.kept_for_copy import detached_where_kept, kept_by

    call, kept = event.site.node, kept_by(program, run, event)
    copied = f"`{text(call)}`"
    story = [StoryStep(line(event.node.site), "builds the graph")]
    if kept is not None and kept.statement is not None:
        story.append(StoryStep(line(kept.statement), f"`{text(kept.statement)}` keeps it with its graph"))
    story.append(StoryStep(line(call), f"{copied} comes to that tensor, which is no leaf: PyTorch raises"))
    if kept is None:
        message = f"{copied} copies a tensor together with its autograd graph: PyTorch raises"
    else:
        message = f"`{text(kept.value)}` is kept with its autograd graph, and {copied} in {program.place(call)} raises"
    place = call if kept is None else kept.value
    return Suspect(
        ("AD104", event.name, *program.spot(place)),
        place,
        message,
        Severity.ERROR,
        tuple(story),
        True,
        (),
        lambda: detached_where_kept(program, run, event, kept),
    )


RULE = rule(__doc__, "AD104", "copied-history", find)
