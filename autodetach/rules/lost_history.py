"""What is differentiated has lost its history on the way.

## What it does
Reports a `backward()`, or `autograd.grad`, of a tensor that was made of values alone: of `torch.tensor(losses)`, of
`.detach()` or `.data`, of what was computed under `torch.no_grad()`, or of an operation that has no gradient, as
`argmax` or a comparison.

## Why is this bad
PyTorch raises: `element 0 of tensors does not require grad and does not have a grad_fn`. Often the answer that is
given, `loss.requires_grad_()`, makes the error go away, and nothing is trained.

## Example
```python
losses = [criterion(model(x), y) for x, y in batch]
loss = torch.tensor(losses).mean()
loss.backward()
```

## Use instead
```python
loss = torch.stack(losses).mean()
loss.backward()
```

## Fix safety
Safe where `torch.stack` takes the place of `torch.tensor`: the program could only raise before. Unsafe where a `detach`
goes away, since more is trained then. What is computed under `no_grad`, or has no gradient, is not repaired: what was
meant there is its author's to say.

## When it stays silent
Where anything that the tensor was made of is not in view, where the error is expected (`except RuntimeError`), and
where nothing on the way ever had history.

## References
- https://docs.pytorch.org/docs/stable/notes/autograd.html#locally-disabling-gradient-computation
- https://docs.pytorch.org/docs/stable/generated/torch.tensor.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import HistoryLost
from autodetach.machine.graph import COPIED, DETACHED, DISCRETE, OFF, Lost
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.program import Program, line, text

WITHOUT = {
    COPIED: "copies the value into a new tensor, without history",
    DETACHED: "has the value, and no history",
    DISCRETE: "has no gradient: its result has no history, whatever it is made of",
    OFF: "is computed where gradients are off: no history is recorded",
}
CUT = "what was detached may be meant to be: more is trained then"


def find(program: Program) -> Iterator[Suspect]:
    """On the first path only: on others, one test may turn gradients off that another asks for."""
    seen: set[ast.AST] = set()
    run = program.runs[0]
    for fact in run.machine.facts if run.whole and run.stop is None else ():
        if isinstance(fact, HistoryLost) and fact.site.node not in seen:
            seen.add(fact.site.node)
            yield _suspect(program, fact)


def _suspect(program: Program, fact: HistoryLost) -> Suspect:
    call = fact.site.node
    last = max(fact.lost, key=lambda one: one.node.number)
    has = "requires gradient" if last.node.leaf else "has history"
    story = (
        StoryStep(line(last.node.site), f"`{text(last.node.site.node)}` {has}"),
        StoryStep(line(last.site), f"`{text(last.site.node)}` {WITHOUT[last.how]}"),
        StoryStep(line(call), f"`{text(call)}` finds no history to walk: PyTorch raises"),
    )
    return Suspect(
        ("AD501", *program.spot(call)),
        call,
        f"`{text(call)}` raises: what it differentiates has lost its history in {program.place(last.site)}",
        Severity.ERROR,
        story[0 if line(last.node.site) and last.node.site.node is not last.site.node else 1 :],
        True,
        (),
        lambda: _candidates(fact.lost),
    )


def _candidates(lost: tuple[Lost, ...]) -> Iterator[Candidate]:
    """Have the tensor itself where its value was copied, or detached, if that is one place.

    Of several that are detached, nobody knows which of them should be.
    """
    from autodetach.codemods.keep_part import KeepPart
    from autodetach.codemods.rename_method import RenameMethod

    copies = {one.site.node for one in lost if one.how == COPIED}
    detached = {one.site.node for one in lost if one.how == DETACHED}
    if len(copies) + len(detached) != 1:
        return
    for call in copies:
        if isinstance(call, ast.Call) and len(call.args) == 1 and not call.keywords:
            yield Candidate("take the tensor itself", (KeepPart(call, call.args[0], ()),), adds=True)
            if isinstance(call.func, ast.Attribute):
                message = "put the tensors together with their history: `torch.stack`"
                yield Candidate(message, (RenameMethod(call.func, "stack"),), adds=True)
    for parts in filter(None, map(_detached, detached)):
        yield Candidate("keep the history of what is differentiated", (KeepPart(*parts, ()),), CUT, adds=True)


def _detached(place: ast.AST) -> tuple[ast.expr, ast.expr] | None:
    """`x.detach()` or `x.data`, and its `x`."""
    read = place.func if isinstance(place, ast.Call) and not place.args else place
    if not (isinstance(place, ast.expr) and isinstance(read, ast.Attribute) and read.attr in ("detach", "data")):
        return None
    return place, read.value


RULE = rule(__doc__, "AD501", "lost-history", find)
