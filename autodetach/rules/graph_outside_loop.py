"""Something with history is built once before a loop and differentiated in every pass.

## What it does
Reports values with history that are made before a loop (at module level, in a constructor, before a closure) and used
in it, where each pass differentiates them and steps parameters.

## Why is this bad
The first pass frees the graph, the second raises `Trying to backward through the graph a second time`. Where nothing
in that graph saves tensors there is no error: every pass then trains on values of the parameters from before the
loop. With `retain_graph=True` there is none either, and every pass walks what nothing trains.

## Example
```python
scale = torch.exp(log_scale)
for x, y in loader:
    loss = criterion(model(x) * scale, y)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
for x, y in loader:
    scale = torch.exp(log_scale)
```

## Fix safety
If the leaves are trained, the statements that build the graph move into the loop, or into the function or `lambda` that
reads what they make: safe when the program could only raise before, the moved statements draw no random numbers and
keep no state, and nothing in view that runs between there and here, or in the loop, changes what they read: values,
attributes, elements and global names, the mode of modules, in front of the loop the weights, too. Else it is unsafe.
What takes something away, as `next(batches)` does, is not moved. Of a table that is read in one place, one element at a
time, that element is computed there instead. Nothing moves past what gives another meaning to a name that it reads. If
they are not trained, the value is detached where it is built: safe, unless the program reads their gradient, or a hook
is told of it. What `torch.autograd.grad` is asked for becomes a leaf then, `.detach().requires_grad_()`: unsafe where
the program reads `.grad` or `.is_leaf`.
What an object then keeps, and hands out in parts, is computed without graph. What a table keeps that
later values are computed of, as rewards, is detached where it is written into the table: safe. Either is unsafe where
they are trained with another setting than the one that is written in the program (`FINETUNE = False`).
Unsafe when the program runs today (the silent kind). What is needed before the loop too is built once more inside of
it: unsafe. Into the closure of an optimizer moves what it differentiates; where the loss is read behind the step, it is
what `step` returns, and other values are computed once more, under `no_grad`.
`with parametrize.cached():` around a loop is entered in each of its passes.
What a constructor keeps of trained parameters, and no one method reads alone, becomes a property: unsafe where several
functions read it. A sum to which constructors add by a method does too, and the method keeps what it is given: unsafe.
What another method keeps of them, as the setter of a property, is computed by the one that reads it, too: unsafe where
what else it is computed from may have changed by then.
An object that computes of them when it is made, and that nothing changes later, is made anew by the one method that
reads it, or becomes a property likewise. One that is given what a call makes, `Loss(prior())`, is given what is called,
and calls it where it reads it. Nothing moves that makes objects which change, as counters do.
A roll-out in lists, whose values the loop computes anew, is computed without graph: unsafe. Moving is unsafe, too,
where the value is read behind a loop that may make no pass. Where each pass trains parameters of its own, as of agents
that take turns, each loss is differentiated for those alone (`inputs=...`): unsafe. Where another loss trains it, and
the loop runs what has made it anew for that one, it is detached: unsafe. So is what a pass reads, and teaches none of
its steps by, as the scores of its peers in mutual learning. What a memory hands out again, as the log-probability of an
action, is computed anew by the loop that reads it, of what the memory keeps instead: unsafe. Where a loop over losses
of one forward updates parameters itself, behind each of them, it updates them when all are differentiated: unsafe.
Where an optimizer steps behind each of several losses that were made before their loop, each by a forward of its own,
it steps once behind that, by the gradient of all: unsafe. What a module makes before the loop and in it, of different
data, moves into it where a distance is taken between both, as both sides of a pair are meant to learn: unsafe. What
the next epoch computes with is made of a sum, as the weight of a KL term: what the sum is given goes without its graph,
if each pass has differentiated it by itself: unsafe. What a loop compares with what the same module makes in it of the
same data never moves into it, where both would be equal: it is a target, and computed without graph.

A closure that gives `torch.optim.LBFGS`, which calls it several times, a loss that was computed and differentiated
before the step is told without a repair.

## When it stays silent
When nothing is stepped in between (rows of a Jacobian, a loop over losses), and when the leaves do not require grad.

## References
- https://discuss.pytorch.org/t/24554
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from autodetach.finding import Severity, StoryStep
from autodetach.machine.activations import Activation, diverge, pass_of
from autodetach.machine.graph import Differentiation, Node, Site, ancestors, take_turns
from autodetach.machine.kept_weights import COMPUTED
from autodetach.machine.operands import expression_of
from autodetach.machine.run import Run
from autodetach.machine.torch_semantics import VIEWS
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.crossings import Entry, entered, passes_of_generator
from autodetach.view.program import (
    Program,
    assumptions_of,
    fault_of,
    is_assumed,
    line,
    observed_of,
    text,
    without_retain,
)
from autodetach.view.steps_between import stepped_between

CONSTANT = "the value may be meant as a constant, or be computed anew in every pass: only its author knows"
ELSEWHERE = "another loss trains what it is computed from: whether its value may stay as it is, only its author knows"


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    for run in program.runs:
        for suspect in (*_errors(program, run), *_stale(program, run), *_old_losses(program, run)):
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect


def _old_losses(program: Program, run: Run) -> Iterator[Suspect]:
    for event in run.machine.old_losses:
        from autodetach.candidates.idle_closures import gives_old_loss

        yield gives_old_loss(program, event)


def _errors(program: Program, run: Run) -> Iterator[Suspect]:
    for event in run.machine.second_walks:
        apart = diverge(event.first.loops, event.second.loops)
        if apart is None or pass_of(event.node.loops, apart[0].activation) is not None:
            continue
        if passes_of_generator(event.node, [event.first], event.second) is not None:
            continue
        if stepped_between(run, event.first, event.second):
            yield _suspect(program, run, event.first, event.second, event.node, event.evidence, apart[1].activation)
    for change in run.machine.stale:
        first = next((d for d in change.node.walked_by if d.number < change.by.number), _before(run, change.by))
        apart = diverge(first.loops, change.by.loops) if first is not None else None
        if first is None or apart is None or pass_of(change.node.loops, apart[0].activation) is not None:
            continue
        if passes_of_generator(change.node, [first], change.by) is not None:
            continue
        yield _suspect(program, run, first, change.by, change.node, change.path, apart[1].activation, change.changed)


def _before(run: Run, d: Differentiation) -> Differentiation | None:
    """The last differentiation of an earlier pass, whose step changes what the graph of this one needs."""
    earlier = (o for o in reversed(run.machine.differentiations) if o.number < d.number)
    return next((o for o in earlier if diverge(o.loops, d.loops) is not None), None)


def _stale(program: Program, run: Run) -> Iterator[Suspect]:
    """No error, but each pass differentiates values that were computed before the first step."""
    for d in run.machine.differentiations:
        if d.kind == "grad" or d.create_graph or d.raised:
            continue
        for node in d.walked:
            if len(node.walked_by) < 2 or node.leaf or node.weak or node in d.perhaps:
                continue
            first = next((o for o in node.walked_by if o.number < d.number and o.kind != "grad"), None)
            apart = diverge(first.loops, d.loops) if first is not None else None
            if first is None or apart is None or pass_of(node.loops, apart[0].activation) is not None:
                continue
            if take_turns(node, d):
                continue
            vain = _is_kept_in_vain(run, node, first)
            if vain or _own_leaf_stepped(run, node, first, d):
                silent = "vain" if vain else "stale"
                yield _suspect(program, run, first, d, node, (node,), apart[1].activation, silent=silent)
                return


def _own_leaf_stepped(run: Run, node: Node, first: Differentiation, second: Differentiation) -> bool:
    """Whether a leaf under `node` is changed by a step between two walks over it; what is not asked for, may be.

    A view has the memory of its leaf, which an optimizer changes in place.
    """
    behind = set(ancestors([node]))
    leaves = {n for n in behind if n.leaf}.intersection(second.walked)
    changing = {"update"} if all(n.leaf or n.op in VIEWS for n in behind) else {"update", "step"}
    return any(
        first.number < s.clock < second.number and s.what in changing and any(leaf in leaves for leaf, _ in s.consumed)
        for s in run.machine.steps
    )


def _is_kept_in_vain(run: Run, node: Node, first: Differentiation) -> bool:
    """Whether a graph is retained for the next pass, and no step ever takes what gradient its leaves have."""
    is_pasted = first.retain and isinstance(first.retain_written, ast.keyword)
    if not (is_pasted and node.saves) or run.machine.open_optimizers or run.machine.hooks:
        return False
    behind = list(ancestors([node]))
    leaves = {n for n in behind if n.leaf}
    taken = {leaf for s in run.machine.steps for leaf, _ in s.consumed}
    is_clear = not any(n.assumed or n.weak or n.op in COMPUTED for n in behind)  # a layer renews what it keeps
    return bool(leaves and taken) and leaves.isdisjoint(taken) and is_clear


def _suspect(
    program: Program,
    run: Run,
    first: Differentiation,
    second: Differentiation,
    node: Node,
    path: tuple[Node, ...],
    activation: Activation,
    changed: Site | None = None,
    silent: str = "",
) -> Suspect:
    entries = list(entered(second, activation))
    shown = _shown(program, activation, second, entries)
    is_own_loss = shown == text(second.root_expression) and not set(first.roots).intersection(second.roots)
    if is_own_loss and isinstance(node.site.node, ast.expr):
        shown = text(node.site.node)  # each pass has a loss of its own, which shares this
    where = line(activation.node) if activation.node is not None else 0
    if silent == "vain":
        does, end = (
            "walks it, and `retain_graph=True` keeps it",
            "walks it again, though no step takes any gradient of it",
        )
    elif silent:
        does, end = "walks it", "walks it again, though its parameters have changed since"
    elif changed is not None:
        does, end = "walks some of it", "needs what was changed as it was: PyTorch raises"
    else:
        does, end = "frees it", "needs the freed part again: PyTorch raises"
    story = [StoryStep(line(node.site), f"builds the graph of `{shown}`, once")]
    if where:
        story.append(StoryStep(where, "the loop begins"))
    if first in node.walked_by:
        story.append(StoryStep(line(first.call), f"pass 1: backward {does}"))
    if changed is not None:
        story.append(StoryStep(line(changed), "pass 1: tensors that it saved are changed in place"))
    story.append(StoryStep(line(second.call), f"pass 2: {end}"))
    message = f"the graph of `{shown}` is built once before the loop, and `{text(second.call)}` walks it in every pass"
    if changed is not None:
        message += f", though `{text(changed.node)}` changes what it has saved"
    if silent == "vain":
        message = f"`retain_graph=True` hides that {message}; nothing trains it"
    elif silent:
        message = f"`{shown}` is computed once before the loop: every pass trains on its old value"
    return Suspect(
        ("AD301", second.scope, program.spot(second.call)),
        node.site.node if isinstance(node.site.node, (ast.expr, ast.stmt)) else second.call,
        message,
        Severity.ERROR,
        tuple(story),
        not is_assumed(path),
        assumptions_of(program, path),
        lambda: _repairs(program, run, second, activation, entries, silent, changed),
        fault_of(program, second),
        observed_of(program, path),
    )


def _shown(program: Program, activation: Activation, d: Differentiation, entries: list[Entry]) -> str:
    """What is built outside, as people call it."""
    from autodetach.candidates.opened_inside import kept_around

    reader, operand, maker = entries[0] if entries else (None, None, None)
    if reader is None or maker is None:
        return text(d.root_expression)
    found = expression_of(reader, operand)
    kept = None if found is not None else kept_around(program, activation)
    return text(found or maker.site.node if kept is None else kept.items[0].context_expr)


# ---- candidates


def _repairs(
    program: Program,
    run: Run,
    d: Differentiation,
    activation: Activation,
    entries: list[Entry],
    silent: str,
    changed: Site | None,
) -> Iterator[Candidate]:
    from autodetach.candidates.later_updates import updated_behind_loop
    from autodetach.candidates.stepped_behind_loop import stepped_behind_loop

    if changed is not None:
        yield from updated_behind_loop(program, run, d, changed)
    if not silent:
        yield from stepped_behind_loop(program, run, d, activation)
    removals = without_retain(d.walked) if silent == "vain" else ()
    for candidate in _candidates(program, run, d, activation, entries, bool(silent)):
        if removals:
            message = f"{candidate.message}, and retain no graph"
            yield replace(candidate, message=message, codemods=(*candidate.codemods, *removals))
        yield candidate


def _candidates(
    program: Program, run: Run, d: Differentiation, activation: Activation, entries: list[Entry], silent: bool
) -> Iterator[Candidate]:
    from autodetach.candidates.as_property import computed_as_property
    from autodetach.candidates.built_once import computed_by_reader_of_method
    from autodetach.candidates.detached_where_built import detached_where_built
    from autodetach.candidates.kept_in_record import kept_in_record
    from autodetach.candidates.kept_ingredients import computed_by_reader
    from autodetach.candidates.kept_parameter import UNTRAINED, kept_parameter, makes_parameter
    from autodetach.candidates.leaf_where_built import leaf_where_built
    from autodetach.candidates.made_as_asked import made_as_asked
    from autodetach.candidates.maker_handed_over import handed_over_uncalled
    from autodetach.candidates.moved_inside import moved_inside
    from autodetach.candidates.objects_anew import made_by_property, made_where_read
    from autodetach.candidates.opened_inside import opened_inside
    from autodetach.candidates.own_inputs import restricted_in_turn
    from autodetach.candidates.repeated import repeated_inside
    from autodetach.candidates.stores import at_addition, at_store, first_copied_in
    from autodetach.candidates.summed_terms import terms_without_graph
    from autodetach.candidates.sums_when_read import summed_when_read
    from autodetach.candidates.taken_as_constant import states_detached_where_read, taken_as_constant
    from autodetach.candidates.untrained_here import detached_for_others
    from autodetach.candidates.without_graph import built_without_graph, kept_without_graph, targets_without_graph
    from autodetach.view.by_call import at_call
    from autodetach.view.computed_again import (
        is_compared_with_its_leaf,
        is_compared_with_itself,
        is_computed_again,
        is_computed_for_another,
        is_one_side_of_pairs,
    )

    doubt = "the gradients of a program that runs today change" if silent else None
    readers = [reader for reader, _, _ in entries if reader is not None]
    yield from opened_inside(program, activation, readers, doubt)
    yield from made_as_asked(program, activation)
    here = at_call(run, d.call)
    trained = {leaf for s in run.machine.steps for leaf, ds in s.consumed if any(o in ds for o in here)}
    steps = [s for s in run.machine.steps if s.what != "grad" and pass_of(s.loops, activation) is not None]
    stepped = {leaf for s in steps for leaf, _ in s.consumed}
    outer = sorted((n for n in ancestors(maker for _, _, maker in entries) if not n.leaf), key=lambda n: n.number)
    if not silent:
        yield from terms_without_graph(program, run, activation, outer)
    if is_computed_again(run, d, activation, outer, trained):
        # Who has asked for the graph of a derivative means to train through it.
        is_derivative = all(any(n.op == "grad" for n in ancestors([maker])) for _, _, maker in entries)
        is_meant_anew = is_derivative or is_one_side_of_pairs(run, d, activation, readers, outer, trained)
        if is_meant_anew:
            yield from moved_inside(program, run, activation, readers, outer, CONSTANT)
        yield from taken_as_constant(program, run, entries, outer, CONSTANT)
        yield from built_without_graph(program, activation, outer, CONSTANT)
        if is_compared_with_itself(run, d, activation, outer, trained):
            yield from targets_without_graph(program, activation, outer, CONSTANT)
        elif not is_meant_anew:
            yield from moved_inside(program, run, activation, readers, outer, CONSTANT)
        return
    if is_compared_with_its_leaf(d, activation, outer):
        yield from detached_where_built(program, entries, doubt or CONSTANT, because="")
        yield from built_without_graph(program, activation, outer, doubt or CONSTANT)
        return
    if any(n.leaf and n in trained for n in ancestors(outer)):
        if doubt is None and _trains_by_turns(run, here, activation):
            doubt = "each pass trains parameters of its own: one backward over the sum of losses may be meant"
        yield from detached_for_others(program, run, d, entries)
        leaves = {n for n in ancestors(outer) if n in trained}
        # What the loop teaches them may only have been left over for their own step.
        elsewhere = ELSEWHERE if _is_stepped_elsewhere(run, leaves, activation) else None
        moved = moved_inside(program, run, activation, readers, outer, doubt or elsewhere)
        moved = moved or made_where_read(program, run, outer, doubt)
        moved = moved or list(computed_by_reader_of_method(program, run, readers, outer, doubt))
        yield from moved
        for candidate in repeated_inside(program, run, activation.node, outer):
            yield replace(candidate, last_resort=bool(moved))
        yield from computed_as_property(program, run, outer, doubt)
        yield from made_by_property(program, run, outer, doubt)
        yield from kept_in_record(program, run, outer, doubt)
        yield from handed_over_uncalled(program, run, outer, doubt)
        yield from computed_by_reader(program, run, outer)
        yield from summed_when_read(program, run, outer)
        if _trains_by_turns(run, here, activation):
            yield from restricted_in_turn(program, run, here[0])
    elif any(n.leaf and n in stepped for n in ancestors(outer)):
        doubt = doubt or ELSEWHERE
        is_old_meant = is_computed_for_another(run, activation, outer, stepped)
        if is_old_meant:
            yield from detached_where_built(program, entries, doubt, because="")
        yield from moved_inside(program, run, activation, readers, outer, doubt)
        if not is_old_meant:
            return  # detached in front of the loop, it would keep its first value, whatever that loss trains
    else:
        yield from kept_parameter(program, outer)
        doubt = doubt or (UNTRAINED if makes_parameter(program, outer) else None)
    yield from kept_without_graph(program, entries, doubt)
    untrained = "" if any(n in trained | stepped for n in ancestors(outer)) else ": nothing in its graph is trained"
    yield from detached_where_built(program, entries, doubt, because=untrained)
    if untrained:
        yield from leaf_where_built(program, run, entries, doubt, because=untrained)
    for message, codemods in at_store(first_copied_in(program, outer)):
        yield Candidate(f"{message}{untrained}", codemods, doubt)
    yield from states_detached_where_read(program, entries, doubt)
    for message, codemods in at_addition(outer):
        yield Candidate(message, codemods, doubt or CONSTANT, cuts=True, last_resort=True)


def _is_stepped_elsewhere(run: Run, leaves: set[Node], activation: Activation) -> bool:
    """Whether a loop steps parameters, and an optimizer steps these leaves, but not in the loop."""
    inside, elsewhere = set[Node](), set[Node]()
    for step in run.machine.steps:
        if step.what == "step":
            is_inside = pass_of(step.loops, activation) is not None
            (inside if is_inside else elsewhere).update(leaf for leaf, _ in step.consumed)
    return bool(inside) and leaves.isdisjoint(inside) and not leaves.isdisjoint(elsewhere)


def _trains_by_turns(run: Run, calls: Sequence[Differentiation], activation: Activation) -> bool:
    """Whether the passes step different parameters, as in a loop over agents that share a network."""
    trained: dict[int, set[Node]] = {}
    for step in run.machine.steps:
        now = pass_of(step.loops, activation)
        if step.what == "step" and now is not None:
            trained.setdefault(now.index, set()).update(
                leaf for leaf, ds in step.consumed if any(d in calls for d in ds)
            )
    first, *others = trained.values() or [set[Node]()]
    return any(leaves - first and first - leaves for leaves in others)


RULE = rule(__doc__, "AD301", "graph-outside-loop", find)
