"""An optimizer is given a tensor that is the result of an operation.

## What it does
Reports `Adam([x])` where `x` is no leaf: an operation has made it of a tensor that requires grad, as
`x = torch.randn(3, requires_grad=True) * 0.1` does. So it does for groups, for `add_param_group`, and for a layer's
`nn.Parameter(...) * 0.1`.

## Why is this bad
PyTorch raises `ValueError: can't optimize a non-leaf Tensor` where the optimizer is made: it changes leaves only, whose
gradient is kept in `.grad`.

## Example
```python
noise = torch.randn(8, requires_grad=True) * 0.1
noise_optimizer = torch.optim.Adam([noise], lr=lr)
```

## Use instead
```python
noise = (torch.randn(8) * 0.1).requires_grad_()
noise_optimizer = torch.optim.Adam([noise], lr=lr)
```

## Fix safety
Safe where the leaf is made in the expression, whose result gets a name, and is scaled or shifted by numbers, or seen in
another shape: the program could only raise before. Unsafe where the leaf has a name, as it may be what was meant to be
trained; where the result becomes an attribute, which may be one of a module's parameters then, and be given twice;
where other tensors go into it, or a function such as `softmax` is applied, which would hold for the first value only;
and where what is computed in the call of the optimizer is replaced by its leaf.

## When it stays silent
Where it is not certain that the tensor has history: it comes of something out of view, is moved or converted, which may
give the leaf itself, or is made in contexts or under decorators that may turn gradients off. In files that import
anything but PyTorch, numpy, and what is usual of the standard library, or have a value out of view decide what requires
grad, and where a test decides whether the tensor is a leaf. Where the tensor retains its gradient, the optimizer is
told to be `differentiable`, is none of `torch.optim`, or an error may be expected.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.is_leaf.html
- https://docs.pytorch.org/docs/stable/optim.html#constructing-it
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import NonLeafOptimized
from autodetach.machine.run import Run
from autodetach.suspect import Suspect, rule
from autodetach.view.program import Program, line, text


def find(program: Program) -> Iterator[Suspect]:
    """Where each path that comes to an optimizer ends there: else a test may decide whether it is given a leaf."""
    seen: set[ast.AST] = set()
    for event in (event for run in program.runs if run.is_usual for event in _events(run)):
        call = event.site.node
        if call not in seen and all(_raises(program, run, call) for run in program.runs):
            seen.add(call)
            yield _suspect(program, event)


def _events(run: Run) -> list[NonLeafOptimized]:
    return [fact for fact in run.machine.facts if isinstance(fact, NonLeafOptimized)]


def _raises(program: Program, run: Run, call: ast.AST) -> bool:
    """Whether a path raises at a call, if it comes there."""
    return program.statement(call) not in run.machine.executed or any(e.site.node is call for e in _events(run))


def _suspect(program: Program, event: NonLeafOptimized) -> Suspect:
    from autodetach.candidates.leaf_of_result import as_leaves

    call = event.site.node
    places = list(dict.fromkeys(history[0].site.node for history in event.made))
    leaf, last = event.made[0][-1].site.node, places[0]
    shown = ", ".join(dict.fromkeys(f"`{text(place)}`" for place in places))
    more = "is no leaf" if len(places) == 1 else "are no leaves"
    steps = (
        StoryStep(line(leaf), f"`{text(leaf)}` makes a leaf, which requires grad"),
        StoryStep(line(last), f"`{text(last)}` computes another tensor of it, which is no leaf"),
        StoryStep(line(call), f"`{text(call)}` is given that: PyTorch raises"),
    )
    return Suspect(
        ("AD305", *program.spot(call)),
        call,
        f"the optimizer is given {shown}, which {more}",
        Severity.ERROR,
        steps,
        True,
        (),
        lambda: as_leaves(program, call, event.made),
        untrains=_trains_nothing,
        ends=True,
    )


def _trains_nothing(before: Run, after: Run) -> bool:
    """Whether an edited program makes steps that no gradient comes to."""
    return bool(after.machine.steps) and not any(s.consumed for s in after.machine.steps)


RULE = rule(__doc__, "AD305", "optimized-non-leaf", find)
