"""Several backward calls over one graph in one pass.

## What it does
Reports two or more differentiations that reach the same nodes in one pass, or in the passes of a loop over losses
with no parameter step in it.

## Why is this bad
The first call frees the saved tensors that the second one needs: `RuntimeError: Trying to backward through the graph
a second time`.

## Example
```python
out = model(x)
loss_a, loss_b = criterion_a(out, a), criterion_b(out, b)
loss_a.backward()
loss_b.backward()
```

## Use instead
```python
loss_a.backward(retain_graph=True)
loss_b.backward()
```
or one backward of the sum, `(loss_a + loss_b).backward()`.

## Fix safety
Safe where one optimizer (or none) consumes the gradient, with no step in between: the program could only raise
before, and every loss reaches the same parameters. Unsafe where several optimizers share the gradient, or where one
loss contains the other: then the author may have meant to detach. Where a log-probability is weighted with what the
other loss trains (the advantage of a critic, in the loss of an actor), the weight is detached, which is unsafe too.
Networks that were frozen for the first loss, and are brought back for the second, are given detached values: unsafe.
So is giving the result of a second forward, which nobody reads, the name from which the second loss is computed. Where
a later loss of the same pass is computed from what `torch.autograd.grad` gave, or from the `.grad` of a `backward`, or
with weights that were moved by it (the inner step of meta-learning), it may be meant to be differentiated through that
(`create_graph=True`) or not (`retain_graph=True`): both are unsafe. A layer that trains
itself in its `forward` is given detached values for that: unsafe. What is computed before a loop, or before
the first loss, and anew by the same modules in each pass, or for the second loss,
may be meant as a constant: it is detached where names (`old_log_probs`, `teacher`) or a ratio tell so, and retained
otherwise; both are unsafe. What passes save up for a
function that trains with it every few of them, while they train with a loss of their own, joins that loss: unsafe.
A sum that `forward` adds up in an attribute, and nothing ever sets back, begins anew in each call: unsafe. A state
that goes on from a forward whose loss was differentiated, and stepped, into the next is detached where that reads it:
unsafe.
Losses in a loop are summed where there surely are some, all of them are there before the loop, and each is
differentiated as it is; where a filter may leave none, or each is given a gradient, every pass keeps the graph.

## When it stays silent
When the calls are on exclusive branches, on separate graphs, when `retain_graph=True` is where it is needed, when
nothing in the shared part saves tensors, and when the error is expected (`pytest.raises`, `try ... except
RuntimeError`, a context that swallows it, a `finally` that jumps, `return_exceptions=True`).

## References
- https://docs.pytorch.org/docs/stable/generated/torch.autograd.backward.html
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from dataclasses import replace

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import SecondWalk
from autodetach.machine.graph import Differentiation
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.other_entries import stand_in_for_each_other
from autodetach.view.program import (
    Program,
    assumptions_of,
    crossing_kind,
    fault_of,
    is_assumed,
    line,
    observed_of,
    text,
)
from autodetach.view.steps_between import cleared_between, read_between, scaled_between, stepped_between

SUM_GOES_ON = "the sum goes on behind its backward call, which may be what was meant"


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    for run in program.runs:
        for event in run.machine.second_walks:
            if not is_shared(run, event) or stand_in_for_each_other(program, event.first, event.second):
                continue
            suspect = _suspect(program, run, event)
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect


def is_shared(run: Run, event: SecondWalk) -> bool:
    """One pass, or a loop over losses: no step stands between that makes the second walk one of another time."""
    kind = crossing_kind(event)
    return kind == "same" or (kind == "outside" and not stepped_between(run, event.first, event.second))


def _suspect(program: Program, run: Run, event: SecondWalk) -> Suspect:
    first, second = event.first, event.second
    story = (
        StoryStep(
            line(event.node.site), f"builds a part of the graph that both need (`{event.node.op}` saves tensors)"
        ),
        StoryStep(line(first.call), f"`{text(first.call)}` frees it"),
        StoryStep(line(second.call), f"`{text(second.call)}` needs it again: PyTorch raises"),
    )
    return Suspect(
        ("AD201", second.scope, program.spot(second.call)),
        second.call,
        f"`{text(second.call)}` walks a graph that `{text(first.call)}` in {program.place(first.call)} has freed",
        Severity.ERROR,
        story,
        not is_assumed(event.evidence),
        assumptions_of(program, event.evidence),
        lambda: _candidates(program, run, event),
        fault_of(program, second),
        observed_of(program, event.evidence),
    )


def _candidates(program: Program, run: Run, event: SecondWalk) -> Iterator[Candidate]:
    from autodetach.candidates.begun_sum import begun_behind
    from autodetach.candidates.cut_between import cut_between
    from autodetach.candidates.joined_shares import joined_shares
    from autodetach.candidates.joined_terms import joined_terms
    from autodetach.candidates.layer_alone import layer_alone
    from autodetach.candidates.old_values import MEANT, old_values
    from autodetach.candidates.reset_between import GOES_ON, is_state, reset_between
    from autodetach.candidates.retaining import retained
    from autodetach.candidates.shared_calls import doubt_of, freeing_others, repeated_behind_step, shared_calls
    from autodetach.candidates.summed_in_call import summed_in_call, walked_before
    from autodetach.candidates.through_gradient import through_gradient
    from autodetach.candidates.trained_alone import trained_alone
    from autodetach.candidates.under_its_name import under_its_name
    from autodetach.candidates.weighted import detached

    if event.second.call in run.machine.tasks.unordered:
        return  # which of both has to keep the graph, nobody knows
    if event.first.calls_itself or event.second.calls_itself:
        return  # a hook that would call itself without end, were the graph kept
    yield from under_its_name(program, run, event.first, event.second)
    calls = shared_calls(event)
    goes_on = is_state(event)
    doubt = doubt_of(run, calls) or (GOES_ON if goes_on else None)
    through = through_gradient(run, [*freeing_others(event), *calls])
    if goes_on:
        yield from summed_in_call(program, event.second, walked_before(event))
    if len({d.call for d in calls}) < len(calls):
        old = old_values(program, run, event)
        if old is not None and old.are_told:
            yield from old.repairs
        if through is not None:
            doubt = doubt or through.doubt
            yield through
        yield from _loop(program, run, event, calls, doubt or (MEANT if old is not None else None))
        if old is not None and not old.are_told:
            yield from old.repairs
        yield from joined_shares(program, event.second)
        return
    old = old_values(program, run, event)
    if old is not None and old.are_told:
        yield from old.repairs
        doubt = doubt or MEANT
    for message, codemods in begun_behind(program, event.first, event.second):
        yield Candidate(message, codemods, SUM_GOES_ON, cuts=True)
    if repeated_behind_step(run, calls):
        return
    yield from layer_alone(program, run, event.first)
    if goes_on:
        yield from reset_between(program, run, event)
    yield from trained_alone(run, event.first, event.second)
    cut = detached(calls)
    if cut is not None:
        doubt = doubt or "it trains what a log-probability is weighted with, which may be meant to be detached"
    if through is not None:
        doubt = doubt or through.doubt
        yield through
    kept = retained([*freeing_others(event), *calls], doubt)
    if cut is not None:
        yield cut
        yield replace(cut, message=f"{cut.message}, and {kept.message}", codemods=(*cut.codemods, *kept.codemods))
    repairs = [kept, *_summed(program, run, calls, doubt)]
    if "sum" in program.prefer:
        repairs.reverse()
    yield from repairs
    if goes_on:
        yield from cut_between(program, run, event)
    yield from joined_terms(program, event.second)


def _summed(program: Program, run: Run, calls: list[Differentiation], doubt: str | None) -> Iterator[Candidate]:
    from autodetach.codemods.replace_statement import ReplaceStatement

    statements = [program.statement(d.call) for d in calls]
    roots = [d.root_expression for d in calls]
    plain = all(
        isinstance(s, ast.Expr) and s.value is d.call and d.kind == "backward" and r is not None
        and not list(d.call.args) and all(k.arg == "retain_graph" for k in d.call.keywords)
        for s, d, r in zip(statements, calls, roots, strict=True)
    )  # fmt: skip
    blocks = [program.block(s) for s in statements if s is not None]
    if not plain or any(b is not blocks[0] for b in blocks):
        return
    if any(
        read_between(run, a, b) or scaled_between(run, a, b) or cleared_between(run, a, b)
        for a, b in itertools.pairwise(calls)
    ):
        return
    parts = tuple(r for r in roots if r is not None)
    total = " + ".join(f"{{{i}}}" for i in range(len(parts)))
    edits = [ReplaceStatement(s, "") for s in statements[:-1] if s is not None]
    last = statements[-1]
    assert last is not None
    yield Candidate(
        "one backward of the sum", (*edits, ReplaceStatement(last, f"({total}).backward()", parts)), doubt, "sum"
    )


def _loop(
    program: Program, run: Run, event: SecondWalk, calls: list[Differentiation], doubt: str | None
) -> Iterator[Candidate]:
    """A loop over losses has no last statement: sum first, then one backward."""
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_statement import ReplaceStatement
    from autodetach.codemods.set_keyword import SetKeyword
    from autodetach.view.free_names import free_name

    call = event.second.call
    statement = program.statement(call)
    owner = program.parents.get(statement) if statement is not None else None
    root = event.second.root_expression
    is_read = any(read_between(run, a, b) for a, b in itertools.pairwise(calls))
    may_sum = (
        not is_read
        and _is_plain(call)
        and not any(scaled_between(run, a, b) or cleared_between(run, a, b) for a, b in itertools.pairwise(calls))
        and _may_sum_over(program, statement, owner)
    )
    keeping = Candidate("keep the graph in every pass", (SetKeyword(call, "retain_graph", "True"),), doubt, "retain")
    if event.second.kind == "grad":
        first = event.first
        if event.second.retain and first.call is not call and not isinstance(first.retain_written, ast.keyword):
            kept = (SetKeyword(first.call, "retain_graph", "True"),)
            keeping = replace(keeping, message="keep the graph until the last backward over it", codemods=kept)
        yield keeping
        return
    if isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.ListComp, ast.GeneratorExp)):
        comprehension = statement.value
        if comprehension.elt is call and root is not None and not call.args and may_sum:
            generator = comprehension.generators[0]
            if len(comprehension.generators) == 1 and not generator.ifs:
                whole, parts = _sum_over(generator.target, generator.iter, root)
                repair = ReplaceStatement(statement, whole + ".backward()", parts)
                yield Candidate("one backward of the sum", (repair,), doubt, "sum")
        elif not may_sum:
            yield keeping
        return
    if not isinstance(statement, ast.Expr) or statement.value is not call or root is None or len(call.args) > 1:
        return
    if isinstance(owner, ast.For) and not owner.orelse and event.second.kind == "backward" and may_sum:
        if len(owner.body) == 1:
            whole, parts = _sum_over(owner.target, owner.iter, root)
            repair = ReplaceStatement(owner, whole + ".backward()", parts)
            yield Candidate("one backward of the sum", (repair,), doubt, "sum")
            return
        name = free_name(program.file_of(owner), "total_loss", "summed_loss", "loss_sum")
        if name is not None:
            yield Candidate(
                "add up the losses and differentiate the sum behind the loop",
                (
                    InsertStatement(owner, f"{name} = 0", "before"),
                    ReplaceStatement(statement, f"{name} = {name} + {{0}}", (root,)),
                    InsertStatement(owner, f"{name}.backward()", "after"),
                ),
                doubt,
                "sum",
            )
    if doubt is None and is_read:
        looked = "the gradient is looked at in between: if weights change by it, the graph has to be built again"
        keeping = replace(keeping, doubt=looked)
    yield keeping


def _is_plain(call: ast.Call) -> bool:
    """Whether a differentiation is asked for nothing that one of the sum would not do: no gradient, no inputs."""
    return not call.args and all(k.arg == "retain_graph" for k in call.keywords)


def _may_sum_over(program: Program, statement: ast.stmt | None, owner: ast.AST | None) -> bool:
    """Whether the sum over a loop is one of tensors that are all there: of nothing it is a number."""
    from autodetach.view.filled import is_filled, is_lazy

    if isinstance(owner, (ast.For, ast.AsyncFor)):
        items = owner.iter
    elif isinstance(statement, ast.Expr) and isinstance(statement.value, (ast.ListComp, ast.GeneratorExp)):
        items = statement.value.generators[0].iter
    else:
        return True
    return is_filled(program, items) and not is_lazy(program, items)


Template = tuple[str, tuple[ast.expr, ...]]


def _sum_over(target: ast.expr, items: ast.expr, root: ast.expr) -> Template:
    """`sum(losses)` or `sum(w * loss for w, loss in pairs)`, with the parts as they are written."""
    if spelled(root) == spelled(target):
        return "sum({0})", (items,)
    return "sum({0} for {1} in {2})", (root, target, items)


RULE = rule(__doc__, "AD201", "shared-graph", find)
