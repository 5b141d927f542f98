"""A number is accumulated together with its autograd graph.

## What it does
Reports `total = total + loss`, `total += loss * n`, `stats["loss"] += loss`, `sum(loss(x) for x in loader)`, moving
averages and their like, where the sum itself is never differentiated.

## Why is this bad
Every `loss` carries the graph that made it, and the sum links them all. If `loss.backward()` ran, its saved tensors
are freed but the nodes stay (some kilobytes a step); if nothing was differentiated, all activations stay until memory
runs out.

## Example
```python
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    total += loss
```

## Use instead
```python
    total += loss.item()
```

## Fix safety
Safe: what is differentiated stays the same. `.item()` is used where the total starts as a number and is used as one,
`.detach()` where a tensor is needed later, where the value leaves the code in view, or where Python's numbers raise
what tensors do not: where something is divided by the total, or it takes part in a power. `.item()` sums in double
precision, whatever the loss has: the last digits of the total may differ. So `.detach()` is used, too, where a test of
the total ends a loop or steers the training, where a scheduler takes it, or where a rate, a setting of a layer, a
weight, or what is differentiated, is made of it, and where a file names a type of 16 bits, or mixed precision: a sum of
tensors is rounded to these. What a function is given is detached where others in its place give numbers:
`func(out.detach(), y)`. Unsafe only if the value has history by assumption, where a function gathers what
nothing has differentiated and then does not use it, where an update is made a leaf again (`create_graph=True`), whose
graph may be what was meant, or where a function of an imported file returns the sum, with a graph that is still whole,
or one that makes batches for a `DataLoader` in a program that trains nothing, or where others call that function of
which no run shows what they do with the sum, unless they only print it, or where a setting that is written in the
program (`ACC = False`, a parameter's default, an entry of a dict) turns off the branch that differentiates the sum,
or where a loss is computed behind the loop of outputs that it has put together, of parameters that nothing has trained
before and that are not in `eval()` mode.
A step of a network of an imported file is not cut inside, since others may train through it: the loop that looks at it
calls it under `no_grad`. So does what averages a list of weights by one call, for which no expression stands alone:
unsafe.

## When it stays silent
When any path differentiates the sum, or its function does under its name, or another program of the same run that
shares the file, when it is handed to code that is not in view before its graph was freed, when the values are numbers
already, where a loop adds up the parameters or layers of a network, of which it has as many as before, where a
function runs through the parts of what it is given and returns what it makes of them, in a method of a network that
code out of view is given, which may train it, and in a test of pytest or unittest that trains nothing.

## References
- https://docs.pytorch.org/docs/stable/notes/faq.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace

from autodetach.finding import Severity, StoryStep
from autodetach.machine.children import walk
from autodetach.machine.graph import Node
from autodetach.machine.growth import Growth, makers_of_returned
from autodetach.machine.program_values import Frame
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.own_gradient import statements_of_own_updates
from autodetach.view.program import Program, is_update, line, observed_of, text

IDLE = "nothing uses what is gathered: another use of it may have been meant"


def find(program: Program) -> Iterator[Suspect]:
    for growth in program.growths:
        if growth.kind == "chain" and growth.linear:
            suspect = _suspect(program, growth)
            if suspect is not None:
                yield suspect


def _suspect(program: Program, growth: Growth) -> Suspect | None:
    from autodetach.candidates.detaching import narrowed
    from autodetach.candidates.summed_without_graph import repairs_of_sum
    from autodetach.view.held_by_chain import is_held_by_chain
    from autodetach.view.lifetime import comes_again, left_of, walked
    from autodetach.view.never_read import is_never_read
    from autodetach.view.still_linked import is_linked
    from autodetach.view.targets import target_of

    statement = program.statement(growth.node.site.node)
    if statement is None:
        return None
    if not growth.elements and (is_update(statement) or statement in statements_of_own_updates(program)):
        return None  # without anything new in it, `w = w - step` is a matter of leaves
    if _is_set_once(program, statement) or (not growth.dead and _is_differentiated_by_name(program, statement)):
        return None
    elements = [
        (narrowed(e.expression, e.node.site.operands if e.node.site.node is e.expression else ()), e.value)
        for e in growth.elements
        if e.expression is not None
    ]
    name = text(_named_inside(program, growth.node.site.node) or _summing(growth, statement) or target_of(statement))
    story = []
    if elements:
        made = line(growth.elements[0].node.site)
        story.append(StoryStep(made, f"every pass builds a new graph for `{text(elements[0][0])}`"))
    story += walked(growth)
    story.append(StoryStep(line(growth.node.site), f"`{name}` links it to the graphs of all earlier passes"))
    story += comes_again(growth, "adds another one", "with the loop")
    dead = growth.dead or not elements
    assumed = growth.elements[0].node if growth.elements else growth.node
    spot = program.spot(growth.node.site.node)
    kept = "graph nodes" if not elements else left_of(growth)
    is_idle = not growth.dead and is_never_read(program, statement, target_of(statement))
    need = "nothing uses it" if is_idle else "only its value is used"
    dies = isinstance(target_of(statement), ast.Name) and growth.node not in _returned(growth)
    return Suspect(
        ("AD101", growth.node.site.scope, spot),
        statement,
        f"`{name}` keeps the autograd graph of every pass ({kept}); {need}",
        Severity.WARNING if dead else Severity.ERROR,
        tuple(story),
        growth.certain,
        () if growth.certain else (f"{program.place(assumed.site)}: the value has history",),
        lambda: _doubted(program, growth, repairs_of_sum(program, growth, statement, elements), IDLE * is_idle),
        observed=observed_of(program, (growth.node, *(e.node for e in growth.elements))),
        lasts=lambda edited: (
            is_linked(program, edited, (growth.node.site.scope, *spot), growth)
            or (
                dies
                and is_held_by_chain(program, edited, growth, [e.node for e in growth.elements], dies=True)
            )
        ),
    )


def _doubted(program: Program, growth: Growth, repairs: Iterator[Candidate], doubt: str) -> Iterator[Candidate]:
    from autodetach.candidates.handed_back import with_doubt

    for candidate in with_doubt(program, growth, repairs):
        yield replace(candidate, doubt=candidate.doubt or doubt or None)


def _returned(growth: Growth) -> set[Node]:
    """What the function that has the loop hands to its callers, who keep it when its states are gone."""
    frame = growth.activation.frame
    return makers_of_returned(frame) if isinstance(frame, Frame) else set()


def _is_set_once(program: Program, statement: ast.stmt) -> bool:
    """`if norm[0].item() < 0: norm[0] = first`: a place that is set by other values, and only as long as it is not."""
    if not isinstance(statement, ast.Assign):
        return False
    places = {text(target) for target in statement.targets if isinstance(target, ast.Subscript)}
    tests = [at.test for at in program.enclosing(statement) if isinstance(at, ast.If)]
    return not places.isdisjoint(_parts(tests)) and places.isdisjoint(_parts([statement.value]))


def _is_differentiated_by_name(program: Program, statement: ast.stmt) -> bool:
    """`loss += one`, and `loss.backward()` in the same function, of which no path was seen that leads there."""
    from autodetach.view.targets import target_of

    name = spelled(target_of(statement) or statement)
    calls = (n for n in walk(program.scope(statement)) if isinstance(n, ast.Call))
    return any(
        isinstance(c.func, ast.Attribute) and c.func.attr == "backward" and spelled(c.func.value) == name for c in calls
    )


def _parts(expressions: list[ast.expr]) -> Iterator[str]:
    """The texts of the subscripts in some expressions."""
    for expression in expressions:
        yield from (text(node) for node in ast.walk(expression) if isinstance(node, ast.Subscript))


def _named_inside(program: Program, node: ast.AST) -> ast.expr | None:
    """The name of `print(total := total + loss)`, which the statement does not begin with."""
    for at in program.enclosing(node):
        if isinstance(at, ast.NamedExpr):
            return at.target
        if isinstance(at, ast.stmt):
            break
    return None


def _summing(growth: Growth, statement: ast.stmt) -> ast.expr | None:
    """`sum(...)`, which adds what a generator makes; what `functools.reduce` adds may have a name."""
    from autodetach.candidates.summed_values import adding

    call, at = adding(growth) or (None, 0)
    if call is None or (at and isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign))):
        return None
    return ast.Call(call.func, [ast.Constant(...)], [])


RULE = rule(__doc__, "AD101", "accumulated-loss", find)
