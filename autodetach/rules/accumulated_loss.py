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
the total ends a loop or steers the training, or where a scheduler takes it. What a function is
given is detached where others in its place give numbers: `func(out.detach(), y)`. Unsafe only if the value has history
by assumption, where a function gathers what nothing has differentiated and then does not use it, where an update is
made a leaf again (`create_graph=True`), whose graph may be what was meant, or where a function of an imported file
returns the sum, with a graph that is still whole, or one that makes batches for a `DataLoader` in a program that trains
nothing, or where others call that function of which no run shows what they do with the sum, unless they only print it,
or where a setting that is written in the program (`ACC = False`, a parameter's default, an entry of a dict) turns off
the branch that differentiates the sum.
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
from itertools import islice

from autodetach.candidates.begun_otherwise import beginnings
from autodetach.candidates.counted import counted_without_graph, dicts_given, keywords_given
from autodetach.candidates.detaching import (
    SHARED,
    element_candidates,
    is_handed_over,
    leaves_of_display,
    narrowed,
    narrowed_to,
)
from autodetach.candidates.frozen_results import frozen_results
from autodetach.candidates.given_without_graph import given_without_graph
from autodetach.candidates.gradient_in_state import gradient_kept
from autodetach.candidates.growing_state import leaf_at_the_end
from autodetach.candidates.handed_back import is_step_of_shared_network, with_doubt
from autodetach.candidates.kept_before import kept_before
from autodetach.candidates.summed_values import adding, values_summed
from autodetach.candidates.without_graph import computed_without_graph
from autodetach.finding import Severity, StoryStep
from autodetach.machine.children import walk
from autodetach.machine.cycles import cycle_of
from autodetach.machine.graph import Node, calls_of, pass_of
from autodetach.machine.growing_chains import linked_nodes
from autodetach.machine.growth import Element, Growth, makers_of_returned
from autodetach.machine.held import graph_in
from autodetach.machine.operands import expression_of
from autodetach.machine.program_values import Frame
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value
from autodetach.once import once
from autodetach.suspect import OF_UPDATES, Candidate, Suspect, rule
from autodetach.view.held_by_chain import is_held_by_chain
from autodetach.view.lifetime import comes_again, left_of, walked
from autodetach.view.never_read import is_never_read
from autodetach.view.other_names import has_other_names
from autodetach.view.program import Program, is_update, line, observed_of, text

IDLE = "nothing uses what is gathered: another use of it may have been meant"


def find(program: Program) -> Iterator[Suspect]:
    for growth in program.growths:
        if growth.kind == "chain" and growth.linear:
            suspect = _suspect(program, growth)
            if suspect is not None:
                yield suspect


def _suspect(program: Program, growth: Growth) -> Suspect | None:
    statement = program.statement(growth.node.site.node)
    if statement is None or (not growth.elements and is_update(statement)):
        return None  # without anything new in it, `w = w - step` is a matter of leaves
    if _is_set_once(program, statement) or (not growth.dead and _is_differentiated_by_name(program, statement)):
        return None
    elements = [
        (narrowed(e.expression, e.node.site.operands if e.node.site.node is e.expression else ()), e.value)
        for e in growth.elements
        if e.expression is not None
    ]
    name = text(_named_inside(program, growth.node.site.node) or _summing(growth, statement) or _target(statement))
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
    is_idle = not growth.dead and is_never_read(program, statement, _target(statement))
    need = "nothing uses it" if is_idle else "only its value is used"
    dies = isinstance(_target(statement), ast.Name) and growth.node not in _returned(growth)
    return Suspect(
        ("AD101", growth.node.site.scope, spot),
        statement,
        f"`{name}` keeps the autograd graph of every pass ({kept}); {need}",
        Severity.WARNING if dead else Severity.ERROR,
        tuple(story),
        growth.certain,
        () if growth.certain else (f"{program.place(assumed.site)}: the value has history",),
        lambda: _doubted(with_doubt(program, growth, _repairs(program, growth, statement, elements)), IDLE * is_idle),
        observed=observed_of(program, (growth.node, *(e.node for e in growth.elements))),
        lasts=lambda edited: (
            _is_linked(program, edited, (growth.node.site.scope, *spot))
            or (
                dies
                and is_held_by_chain(program, edited, growth, [e.node for e in growth.elements], dies=True)
            )
        ),
    )


def _doubted(candidates: Iterator[Candidate], doubt: str) -> Iterator[Candidate]:
    for candidate in candidates:
        yield replace(candidate, doubt=candidate.doubt or doubt or None)


def _returned(growth: Growth) -> set[Node]:
    """What the function that has the loop hands to its callers, who keep it when its states are gone."""
    frame = growth.activation.frame
    return makers_of_returned(frame) if isinstance(frame, Frame) else set()


def _is_linked(before: Program, after: Program, place: tuple[object, ...]) -> bool:
    """Whether a place still links the graph of every pass to the next one, as where the sum begins with history.

    If it is spelled otherwise by now, it is one that links them and was not there before.
    """
    linked = _linked(after).get(place[0], set())
    return place in linked or not linked <= _linked(before).get(place[0], set())


@once
def _linked(program: Program) -> dict[object, set[tuple[object, ...]]]:
    """The places of a program that link graph to that of earlier passes, by function: that, text and number."""
    found: dict[object, set[tuple[object, ...]]] = {}
    for node in (node for run in program.runs for node in linked_nodes(run)):
        found.setdefault(node.site.scope, set()).add((node.site.scope, *program.spot(node.site.node)))
    return found


def _is_set_once(program: Program, statement: ast.stmt) -> bool:
    """`if norm[0].item() < 0: norm[0] = first`: a place that is set by other values, and only as long as it is not."""
    if not isinstance(statement, ast.Assign):
        return False
    places = {text(target) for target in statement.targets if isinstance(target, ast.Subscript)}
    tests = [at.test for at in program.enclosing(statement) if isinstance(at, ast.If)]
    return not places.isdisjoint(_parts(tests)) and places.isdisjoint(_parts([statement.value]))


def _is_differentiated_by_name(program: Program, statement: ast.stmt) -> bool:
    """`loss += one`, and `loss.backward()` in the same function, of which no path was seen that leads there."""
    name = spelled(_target(statement) or statement)
    calls = (n for n in walk(program.scope(statement)) if isinstance(n, ast.Call))
    return any(
        isinstance(c.func, ast.Attribute) and c.func.attr == "backward" and spelled(c.func.value) == name for c in calls
    )


def _parts(expressions: list[ast.expr]) -> Iterator[str]:
    """The texts of the subscripts in some expressions."""
    for expression in expressions:
        yield from (text(node) for node in ast.walk(expression) if isinstance(node, ast.Subscript))


def _target(statement: ast.stmt) -> ast.AST | None:
    if isinstance(statement, ast.AugAssign):
        return statement.target
    if isinstance(statement, ast.Assign):
        return statement.targets[0]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func, args = statement.value.func, statement.value.args
        if spelled(func) == "setattr" and len(args) > 1:
            return _attribute(args[0], args[1])
        if args and last_word(func).startswith("_foreach_"):
            return args[0]
        return func.value if isinstance(func, ast.Attribute) else func
    return statement


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
    call, at = adding(growth) or (None, 0)
    if call is None or (at and isinstance(statement, (ast.Assign, ast.AugAssign, ast.AnnAssign))):
        return None
    return ast.Call(call.func, [ast.Constant(...)], [])


def _attribute(this: ast.expr, name: ast.expr) -> ast.expr:
    """What `setattr(this, name, value)` sets."""
    if isinstance(name, ast.Constant) and isinstance(name.value, str):
        return ast.Attribute(this, name.value, ast.Load())
    return ast.Call(ast.Name("getattr", ast.Load()), [this, name], [])


def _repairs(
    program: Program, growth: Growth, statement: ast.stmt, elements: list[tuple[ast.expr, object]]
) -> Iterator[Candidate]:
    yield from frozen_results(program, growth.run)
    if is_step_of_shared_network(program, growth):
        yield from computed_without_graph(program, growth)
    else:
        yield from _candidates(program, growth, statement, elements)


def _candidates(
    program: Program, growth: Growth, statement: ast.stmt, elements: list[tuple[ast.expr, object]]
) -> Iterator[Candidate]:
    moving = growth.node.op != "add" or not isinstance(growth.node.site.node, (ast.AugAssign, ast.BinOp))
    in_view = growth.activation.node is not None  # else it lives on an object, and may be read elsewhere as a tensor
    number = in_view and (growth.starts_as_number or (moving and not _in_place(growth)))
    number = number and not has_other_names(program, growth, _target(statement) or statement)
    dicts = dicts_given(growth.node)
    named = keywords_given(growth.node)
    if len(named) > 1:
        elements = [*named]
    if dicts:
        yield from counted_without_graph(program, dicts, number=number)
        given = _given(growth)
        yield from element_candidates(program, given, number=number, what="hand over") if given else ()
    elif elements:
        what = "write" if growth.node.op == "__setitem__" else "accumulate"
        found = list(element_candidates(program, elements, number=number, what=what))
        usual = [candidate for candidate in found if not candidate.last_resort]
        given = _given(growth)
        handed = list(element_candidates(program, given, number=number, what="hand over"))[:2] if given else []
        guarded = [candidate for candidate in handed if candidate.last_resort]
        handed = [candidate for candidate in handed if not candidate.last_resort]
        handed += [*_handed_before(program, growth), *guarded]
        if any(is_handed_over(program, e) for e, _ in elements):
            yield from handed
            yield from usual
        else:
            yield from usual
            yield from handed
        yield from kept_before(program, growth)
        yield from given_without_graph(program, *elements[0]) if len(elements) == 1 else ()
        yield from (candidate for candidate in found if candidate.last_resort)
    elif isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Subscript):
        # What is written into a part of a buffer may itself rest on earlier passes, as outputs of a recurrent net do.
        yield from element_candidates(program, [(statement.value, None)], number=False, what="write")
    if not elements:
        yield from values_summed(growth)
    if not elements and (leaves := _leaves_taken(growth)):
        yield from element_candidates(program, leaves, number=False, what="accumulate")
    yield from _leaf_again(program, growth)
    if not elements:
        yield from leaf_at_the_end(program, growth)
    yield from gradient_kept(program, growth)
    begin = beginnings(program, growth, statement, spelled(_target(statement) or statement))
    seeds = [(expression, elements[0][1] if elements else None) for expression in begin]
    if seeds and elements:
        yield from element_candidates(program, [*elements, *seeds], number=number, what="begin with, and accumulate,")
    if elements and isinstance(statement, ast.Assign) and isinstance(statement.value, ast.BinOp):
        # What it begins with is attached, too, and comes from elsewhere: a buffer by name, an argument.
        for whole in element_candidates(program, [(statement.value, elements[0][1])], number=False, what="keep"):
            yield replace(whole, last_resort=True)
    elif elements and (earlier := _left_by_earlier_passes(growth)):
        for cut in element_candidates(program, earlier, number=False, what="go on with"):
            yield replace(cut, last_resort=True)
    if not elements or isinstance(_target(statement), ast.Name):
        yield from computed_without_graph(program, growth)


def _leaves_taken(growth: Growth) -> list[tuple[ast.expr, Value]]:
    """The parameters that a pass adds as they are: `p` of `torch.lerp(average, p, 0.1)`, or `sum.mul_(0.9).add_(p)`."""
    found: dict[ast.expr, Value] = {}
    for parent in growth.node.parents:
        before = pass_of(parent.loops, growth.activation)
        cycle = [] if before is None or parent.leaf else cycle_of(parent, before, growth.node.site.node)
        for node in cycle:
            taken = [v for v in node.operands if isinstance(v, Tensor) and v.node is not None and v.node.leaf]
            found.update((e, v) for v in taken if (e := expression_of(node, v)) is not None and _is_read(e))
    return list(found.items())


def _left_by_earlier_passes(growth: Growth) -> list[tuple[ast.expr, Value]]:
    """The operands that link the passes: `cache["k"]` of `torch.cat([cache["k"], k])`, which begins with history."""
    node, now = growth.node, pass_of(growth.node.loops, growth.activation)
    made = [v for v in node.operands if isinstance(v, (Tensor, Opaque)) and v.node is not None and not v.node.leaf]
    earlier = [v for v in made if v.node is not None and pass_of(v.node.loops, growth.activation) is not now]
    return [(e, v) for v in earlier if (e := expression_of(node, v)) is not None and _is_read(e)]


def _is_read(expression: ast.expr) -> bool:
    return isinstance(getattr(expression, "ctx", ast.Load()), ast.Load)


def _leaf_again(program: Program, growth: Growth) -> Iterator[Candidate]:
    """`w = w - lr * g`, where `torch.autograd.grad` gives `g`: the new weight is a leaf again, as it asks for one.

    If `g` has a graph of its own, which nothing walks, that one is not to be built.
    """
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.set_keyword import SetKeyword

    place = growth.node.site.node
    asked = [
        d
        for d in growth.run.machine.differentiations
        if d.kind == "grad" and any(p.activation is growth.activation for p in d.loops)
    ]
    calls = {d.call: SetKeyword(d.call, "create_graph", None) for d in asked if d.create_graph}
    if asked and isinstance(place, ast.BinOp) and isinstance(place.op, (ast.Add, ast.Sub)):
        new = ReplaceExpression(place, "({}).detach().requires_grad_()")
        message = f"make `{text(place)}` a leaf again"
        if calls:
            yield Candidate(f"{message}, and build no graph of its gradient", (new, *calls.values()), OF_UPDATES)
        is_shared = program.is_imported(place)  # other callers may have it change weights in place
        yield Candidate(message, (new,), OF_UPDATES if calls else SHARED if is_shared else None)


def _given(growth: Growth) -> list[tuple[ast.expr, object]]:
    """What a caller hands to the function that accumulates it: `loss` of `meter.update(loss, n)`, of `[loss, kl]`."""
    found = [(e, v) for element in growth.elements for e, v in next(_handed(element), ())]
    return list({id(e): (e, v) for e, v in found}.values())


def _handed_before(program: Program, growth: Growth) -> Iterator[Candidate]:
    for given in _given_before(growth):
        found = element_candidates(program, [given], number=False, what="hand over")
        yield from (candidate for candidate in found if not candidate.last_resort)


def _given_before(growth: Growth) -> Iterator[tuple[ast.expr, object]]:
    """What callers further out hand to those that hand it on: a log that every value comes through, numbers too."""
    if len(growth.elements) == 1:
        for given in islice(_handed(growth.elements[0]), 1, None):
            yield from given if len(given) == 1 else ()


def _handed(element: Element) -> Iterator[list[tuple[ast.expr, object]]]:
    """What the open calls were given of an element, innermost first."""
    for site in calls_of(element.chain):
        matching = [e for e, v in site.operands if v is element.value or getattr(v, "node", None) is element.node]
        values = [v for n in element.node.parents for _, v in site.operands if getattr(v, "node", None) is n]
        if matching:
            yield [(matching[0], element.value)]
        elif len(values) == 1:
            yield [(e, v) for e, v in site.operands if v is values[0]]
        else:
            shown = [leaf for e, v in site.operands if _holds(v, element.node) for leaf in leaves_of_display(e, v)]
            yield [(narrowed_to(e, v), v) for e, v in shown]


def _holds(value: Value, node: Node) -> bool:
    """Whether a list, tuple or dict holds what a node has made."""
    return isinstance(value, (Sequence, Mapping)) and any(t.node is node for t in graph_in(value))


def _in_place(growth: Growth) -> bool:
    """Whether the total is a tensor that is changed in place: it must stay one."""
    is_changed = isinstance(growth.node.site.node, (ast.AugAssign, ast.Call))
    return is_changed or growth.node.op == "__setitem__"


RULE = rule(__doc__, "AD101", "accumulated-loss", find)
