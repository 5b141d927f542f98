"""`retain_graph=True` keeps a graph that nobody walks again.

## What it does
Reports `retain_graph=True` on a differentiation whose graph is not differentiated again on any path.

## Why is this bad
The saved tensors of the old graph stay in memory until its last reference is dropped, usually in the next pass: peak
memory for activations doubles. It is also what people paste to silence an error that has another cause, and it hides
that cause.

## Example
```python
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward(retain_graph=True)
    optimizer.step()
```

## Use instead
```python
    loss.backward()
```

## Fix safety
Safe: no number changes; memory is freed earlier. Unsafe if a part of the graph comes from a callable that is not in
view, which may hand out the same graph again, if a later loss of the pass comes from the network out of view that has
made such a part, if a function of an imported file is given it: other callers may walk it again, if each pass of a loop
computes with the same argument of a function that nobody in view calls: a graph that it has is walked in each of them,
if its function, one that has called it, or one that these call differentiates where a switch of the program, as it is
set, does not lead, or so does one that no name calls, as `TABLE[kind](out)`, in a notebook: who runs a cell again may
walk what other cells have built, or what its own last run has left, or if only its gradient, which stays, tells that
such an argument is a leaf.

## When it stays silent
When any path walks the graph again, or another program of the same run that shares the file, when the budget leaves out
paths of the function, which may do so, or those that go another way in the next pass, when a later pass may, as one in
which a count has come to its end (`n -= 1`, `if n == 0:`), when `create_graph` is set, when the flag is not the literal
`True`, when a part of the graph is handed to code that is not in view afterwards, when it may go on in a state of which
only a part is cut, or that code out of view is told to begin anew (`state.reset()`), when its nodes are read by way of
`.grad_fn`, which is more than to print one, when another loss of the pass comes from a network out of view, which gave
what this one is computed with, too, or from a method of one that was called for this one, and is given nothing with a
graph: it may compute with what is kept, when all of the graph was made out of view, as that of a parameter `loss`, when
it begins with a gradient from out of view or of another backward, unless its graph is made of leaves alone, when
another loss of the same pass comes from where nobody knows, as this one does, when a call in view may give the
function, as an argument, what a module has made, when code out of view is given a callable that may walk the graph
(`signal.signal(number, handler)`), or Python leads to what may by itself, as a handler of errors, or an option of the
command line that is off by default, when a task or a thread walks it too, in whatever order, when a weight that a layer
out of view keeps from its last call (`weight_norm(layer)`) is read by itself, when what `parametrize.cached()` keeps
may be computed out of view, and in `torch.autograd.grad`.

## References
- https://docs.pytorch.org/docs/stable/generated/torch.Tensor.backward.html
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator

from autodetach.finding import Severity, StoryStep
from autodetach.machine.children import walk
from autodetach.machine.events import SecondWalk, StaleSaved
from autodetach.machine.graph import Differentiation, is_walked_again, trail_of
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import External, Function, Method, Native
from autodetach.machine.spelling import arguments_of
from autodetach.machine.surroundings import around, go_one_way
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.torch_semantics import TENSOR_ATTRIBUTES
from autodetach.machine.values import Opaque, Sequence, Tensor, Value
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.by_name import calls_in_view
from autodetach.view.kept_within import is_kept_out_of_view, may_be_kept_within
from autodetach.view.needed_again import NeededAgain
from autodetach.view.other_entries import begins_where_called
from autodetach.view.program import Program, line, text
from autodetach.view.walked_unseen import may_come_to_walk, walks_not_reached

WALKED = "other programs may walk the graph of what they give to this file"


def find(program: Program) -> Iterator[Suspect]:
    needed: set[ast.AST] = set()
    retained: dict[ast.Call, list[Differentiation]] = {}
    faulty: set[ast.AST] = set()
    for run in program.runs:
        events: list[SecondWalk | StaleSaved] = [*run.machine.second_walks, *run.machine.stale]
        needed |= run.machine.tasks.unordered
        faulty.update(d.call for event in events for d in event.node.walked_by)
        needed_again = NeededAgain(run)
        for d in run.machine.differentiations:
            if _is_literal(d):
                if run.whole and not _is_given(d) and not _is_part_of_another(d):
                    retained.setdefault(d.call, []).append(d)
                if d.call not in needed and (is_walked_again(d) or needed_again.may_be(d)):
                    needed.add(d.call)
    for call, same in retained.items():
        d = next((each for each in same if begins_where_called(program, each)), same[0])
        if call in needed or call in faulty or _may_be_given_history(program, d) or _may_be_called(program, d):
            continue
        if not _is_left_out(program, d):
            yield _suspect(program, d)


def _may_be_called(program: Program, d: Differentiation) -> bool:
    """Whether what the program, as it is set, does not call itself may walk the graph again."""
    from autodetach.view.called_back import may_be_called_back, may_be_called_by_python

    if _waits_for_option(program, d) or may_come_to_walk(program, d):
        return True
    return may_be_called_back(program, d) or may_be_called_by_python(program, d)


def _is_left_out(program: Program, d: Differentiation) -> bool:
    """Whether the budget has left out paths of the function that differentiates, which may walk the graph again."""
    from autodetach.machine.mixing import may_be_mixed
    from autodetach.view.by_call import at_call

    if not program.analysis.ended:
        return False
    oracles = [run.machine.oracle for run in program.runs if run.finished]
    near = around([d])
    same = [other for run in program.runs for other in at_call(run, d.call)]
    return go_one_way(oracles, near) or may_be_mixed(oracles, near, same)


def _is_literal(d: Differentiation) -> bool:
    written = d.retain_written
    return (
        d.retain
        and not d.create_graph
        and d.kind != "grad"
        and isinstance(written, ast.keyword)
        and isinstance(written.value, ast.Constant)
        and written.value.value is True
    )


def _is_given(d: Differentiation) -> bool:
    """Whether all of the graph comes from out of view, as that of a parameter: who gave it may walk it again."""
    bases = [n for n in d.walked if not n.parents]
    return all(n.assumed and not n.leaf and (n.site.node is d.call or n.op in TENSOR_ATTRIBUTES) for n in bases)


def _is_part_of_another(d: Differentiation) -> bool:
    """Whether it begins with a gradient from out of view or of another backward: it walks a part of a larger graph.

    A graph that is made of leaves alone is no part of another, whatever gradient it is given, as that of a block of a
    reversible network, which computes anew what it differentiates.
    """
    return _begins_in_another(d) and not _is_of_leaves(d)


def _begins_in_another(d: Differentiation) -> bool:
    number, word = (1, "grad_tensors") if d.kind == "autograd.backward" else (0, "gradient")
    given = [k.value for k in d.call.keywords if k.arg == word] or d.call.args[number : number + 1]
    values = [v for e, v in d.site.operands if given and e is given[0]]
    return any(isinstance(v, Opaque) or (isinstance(v, Tensor) and v.from_grad) for v in values)


def _is_of_leaves(d: Differentiation) -> bool:
    """Whether all that the graph was computed with is known to have it from leaves, or is no tensor."""
    made = [n for n in d.walked if not n.leaf]
    if any(n.assumed or n.weak for n in made):
        return False
    given: list[Value] = [v for n in made for v in (*n.operands, *(value for _, value in n.site.operands))]
    while given:
        value = given.pop()
        if isinstance(value, Sequence) and value.exact:
            given += value.items
        elif isinstance(value, Tensor):
            if value.node is None:  # who knows what it was made of
                return False
        elif isinstance(value, Opaque):
            if value.node is None and not _is_asked_for_gradient(value):
                return False
        elif not (is_constant(value) or isinstance(value, CALLED) or is_module(value)):
            return False
    return bool(made)


def _is_asked_for_gradient(value: Opaque) -> bool:
    """Whether something from out of view was to require grad, and then had a gradient: it is a leaf.

    Or else who gave it has called its `retain_grad()`.
    """
    return value.attrs.get("requires_grad") is True and "grad" in value.attrs


def _may_be_given_history(program: Program, d: Differentiation) -> bool:
    """Whether a call in view, of which nobody knows the receiver, may give this function what a module has made.

    The graph of `option.update(self.encoder(x))` goes on behind the parameter, and may be walked there again.
    """
    from autodetach.view.by_call import at_call

    function = program.scope(d.call)
    if not isinstance(function, FUNCTIONS):
        return False
    is_entered = any(d.scope in run.entries for run in program.runs)  # else whoever calls it is in view, and was run
    calls = list(calls_in_view(program, function.name))
    if not calls:
        return False
    given_away = {escape.site.node for run in program.runs for escape in run.machine.escapes}
    same = (other for run in program.runs for other in at_call(run, d.call))
    known = {statement for other in same for statement, _ in other.trail}
    unknown = (c for c in calls if (is_entered or c in given_away) and program.statement(c) not in known)
    return any(_may_be_made_by_a_module(program, value, call) for call in unknown for value in arguments_of(call))


def _may_be_made_by_a_module(program: Program, value: ast.expr, at: ast.AST) -> bool:
    """Whether it is, or is bound to, the result of `self.encoder(x)` or `encoder(x)`."""
    if isinstance(value, ast.Call):
        return _is_like_a_module(value.func)
    if not isinstance(value, ast.Name):
        return False
    return any(
        isinstance(node, ast.Assign)
        and isinstance(node.value, ast.Call)
        and _is_like_a_module(node.value.func)
        and any(isinstance(n, ast.Name) and n.id == value.id for t in node.targets for n in ast.walk(t))
        for node in walk(program.scope(at))
    )


def _is_like_a_module(callee: ast.expr) -> bool:
    """`self.encoder`, or a name of lower case that is no builtin: neither `batch.to` nor `DataLoader`."""
    if isinstance(callee, ast.Attribute):
        return isinstance(callee.value, ast.Name) and callee.value.id == "self"
    return isinstance(callee, ast.Name) and callee.id.islower() and not hasattr(builtins, callee.id)


def _suspect(program: Program, d: Differentiation) -> Suspect:
    built = min((n.site.line for n in d.walked if not n.leaf and n.site.line), default=line(d.call))
    nothing = "nothing in view walks it again" if is_kept_out_of_view(program, d) else "nothing walks it again"
    story = (
        StoryStep(built, "builds the graph"),
        StoryStep(line(d.call), "walks it and keeps its saved tensors"),
        StoryStep(line(d.call), nothing),
    )
    assumed = any(n.weak or n.assumed for n in d.walked)
    return Suspect(
        ("AD103", d.scope, program.spot(d.call)),
        d.retain_written if isinstance(d.retain_written, ast.keyword) else d.call,
        f"`retain_graph=True` keeps the graph of `{text(d.root_expression)}`, and {nothing}",
        Severity.WARNING,
        story,
        not assumed,
        (),
        lambda: _candidates(program, d),
    )


def _candidates(program: Program, d: Differentiation) -> Iterator[Candidate]:
    from autodetach.candidates.detaching import is_handed_over
    from autodetach.codemods.set_keyword import SetKeyword

    is_given = d.root_expression is not None and is_handed_over(program, d.root_expression)
    doubt = WALKED if is_given else _doubt(program, d)
    yield Candidate("remove `retain_graph=True`", (SetKeyword(d.call, "retain_graph", None),), doubt)


def _doubt(program: Program, d: Differentiation) -> str | None:
    ways = (_given_again, _switched_off, _no_leaf, _run_again, may_be_kept_within)
    return next((doubt for way in ways if (doubt := way(program, d))), None)


def _given_again(program: Program, d: Differentiation) -> str | None:
    """A doubt where each pass of a loop computes with what a caller out of view gives, perhaps with a graph."""
    from autodetach.view.given_again import given_again

    given = given_again(program, d.call)
    return None if given is None else f"a caller may give `{given}` with a graph, which every pass walks again"


def _no_leaf(program: Program, d: Differentiation) -> str | None:
    """A doubt where only its gradient tells that what nobody in view gives is a leaf: `retain_grad()` does so, too.

    Who empties the gradient afterwards, as a reversible block does, has the tensor for itself.
    """
    if not _begins_in_another(d):
        return None
    for expression, value in (operand for n in d.walked for operand in n.site.operands):
        if isinstance(value, Opaque) and _is_asked_for_gradient(value) and value.attrs["grad"] is not None:
            return f"a caller may give `{text(expression)}` with a graph, which it walks again"
    return None


def _switched_off(program: Program, d: Differentiation) -> str | None:
    """A doubt where the functions around, or those that they call, differentiate in a branch that no path has taken.

    With `self.with_penalty = False` in the constructor, the graph is walked again as soon as somebody turns it on.
    """
    for at in walks_not_reached(program, d):
        return f"{program.place(at)} may walk the graph too, where nothing leads as the program is set"
    return None


def _run_again(program: Program, d: Differentiation) -> str | None:
    """A doubt in a notebook: a cell that is run twice may walk what others have built, or its last run has left."""
    own = program.cell(d.trail[0][0] if d.trail else d.call)
    if own is None:
        return None
    made = (trail_of(n) for n in d.walked if not n.leaf)
    built = {program.cell(trail[0][0]) for trail in made if trail}
    other = next((cell for cell in built if cell is not None and cell != own), None)
    what = "what it has left, or is imported," if other is None else f"the graph of cell {other}"
    return f"whoever runs this cell again may walk {what} again"


def _waits_for_option(program: Program, d: Differentiation) -> bool:
    """Whether an option of the command line leads to such a branch: one is there to be given."""
    names = {name for run in program.runs for name in run.machine.options}
    if not names:
        return False
    tests = (b.test for at in walks_not_reached(program, d) for b in program.enclosing(at) if isinstance(b, ast.If))
    return any(isinstance(n, ast.Attribute) and n.attr in names for test in tests for n in ast.walk(test))


CALLED = (External, Function, Method, Native)
"""What an operation is an operation of: it is the callee."""

RULE = rule(__doc__, "AD103", "superfluous-retain-graph", find)
