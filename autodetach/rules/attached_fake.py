"""A network's loss walks into another network that it does not train.

## What it does
Reports the attached fake of a GAN and its kin: two differentiations share a graph, and one of them walks into
parameters whose gradient no step consumes.

## Why is this bad
The discriminator's backward frees the generator's graph, and the generator's backward then raises.
`retain_graph=True` makes it "modified by an inplace operation", since the discriminator was stepped in between; and
it costs the time of a second backward.

## Example
```python
fake = G(z)
loss_d = bce(D(real), ones) + bce(D(fake), zeros)
```

## Use instead
```python
loss_d = bce(D(real), ones) + bce(D(fake.detach()), zeros)
```

## Fix safety
Safe where no parameter step stands between the two backward calls: the program could only raise before, and no gradient
that any step consumes changes. Unsafe otherwise: the second loss may be meant to be computed again behind the step.
Unsafe, too, where the program reads gradient that is cut off, or a hook is told of it.
Where a loop differentiates one loss after the other, it is detached for all of them. So is what all losses of a pass
walk into in vain, where one of them cannot do without a retained graph alone.
A fake that goes through a pool which gives it back is detached before it, so that the pool keeps no graph either.
Where both losses are made of one `D(fake)`, it is computed once more, from the detached fake, for the second loss.
That is unsafe: it costs another forward, and layers that draw or count notice it.

## When it stays silent
When the fake is detached, made under `no_grad`, or judged anew for the generator; when the gradient is consumed; where
a callable out of view makes a reward of one part of what a network out of view gives, and another part trains that.

## References
- https://docs.pytorch.org/tutorials/beginner/dcgan_faces_tutorial.html
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterable, Iterator, Sequence

from autodetach.finding import Severity, StoryStep
from autodetach.machine.activations import diverge, pass_of
from autodetach.machine.children import walk
from autodetach.machine.events import SecondWalk, StaleSaved
from autodetach.machine.graph import Differentiation, Node, ancestors
from autodetach.machine.operands import expression_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Opaque, Tensor, Value
from autodetach.once import once
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.program import (
    Program,
    assumptions_of,
    fault_of,
    handed,
    is_assumed,
    line,
    listed,
    observed_of,
    text,
    without_retain,
)
from autodetach.view.steps_between import stepped_between


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    for run in program.runs:
        events: list[SecondWalk | StaleSaved] = [*run.machine.second_walks, *run.machine.stale]
        for event in events:
            cuts = cut_sets(run, event)
            if not cuts or (isinstance(event, SecondWalk) and (_is_on_purpose(run, event) or _is_outdated(run, event))):
                continue
            suspect = _suspect(program, run, event, cuts)
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect


def _is_on_purpose(run: Run, event: SecondWalk) -> bool:
    """Whether it is walked for a gradient that is in the loss."""
    from autodetach.candidates.through_gradient import doubt_of_gradient

    return doubt_of_gradient(run, event.first) is not None


def _is_outdated(run: Run, event: SecondWalk) -> bool:
    """Whether a loop walks what was made before it of leaves that its passes train: that is to be made anew."""
    apart = diverge(event.first.loops, event.second.loops)
    if apart is None or pass_of(event.node.loops, apart[0].activation) is not None:
        return False
    leaves = {n for n in ancestors([event.node]) if n.leaf}
    between = (s for s in run.machine.steps if event.first.number < s.clock < event.second.number)
    return any(leaf in leaves for step in between if step.what != "grad" for leaf, _ in step.consumed)


def _second(event: SecondWalk | StaleSaved) -> Differentiation:
    return event.second if isinstance(event, SecondWalk) else event.by


def _suspect(
    program: Program, run: Run, event: SecondWalk | StaleSaved, cuts: list[tuple[Differentiation, ...]]
) -> Suspect:
    second = _second(event)
    first = event.node.walked_by[0]
    edges = [e for d in cuts[0] for e in unconsumed_edges(run, d)]
    edges = edges or [e for d in cuts[0] for e in unconsumed_edges(run, d, shared=False)]
    shown = listed(e for _, _, e in edges)
    story = (
        StoryStep(line(event.node.site), "builds a part of the graph that both need"),
        StoryStep(line(first.call), f"`{text(first.call)}` walks it"),
        *_raising(event, second),
        StoryStep(line(edges[0][0].site), f"the gradient that flows into {shown} is consumed by no step"),
    )
    return Suspect(
        ("AD203", second.scope, program.spot(second.call)),
        edges[0][2],
        f"{shown} is attached to a graph that `{text(cuts[0][0].call)}` does not train",
        Severity.ERROR,
        story,
        not is_assumed(event.evidence),
        assumptions_of(program, event.evidence),
        lambda: _candidates(program, run, event, cuts),
        fault_of(program, second),
        observed_of(program, event.evidence),
        is_guess=isinstance(event, StaleSaved),
    )


def _raising(event: SecondWalk | StaleSaved, second: Differentiation) -> tuple[StoryStep, ...]:
    """Why the second walk raises: where the graph was retained, it may come that far."""
    if isinstance(event, SecondWalk):
        return (StoryStep(line(second.call), f"`{text(second.call)}` walks it again: PyTorch raises"),)
    return (
        StoryStep(line(event.changed), f"`{text(event.changed.node)}` changes tensors in place that this part saved"),
        StoryStep(line(second.call), f"`{text(second.call)}` needs them as they were: PyTorch raises"),
    )


def cut_sets(run: Run, event: SecondWalk | StaleSaved) -> list[tuple[Differentiation, ...]]:
    """Which differentiations walk in vain: each alone, those of a loop over losses as one, then all together.

    What was changed since it was saved, on the way to what is trained, is a matter of the step that has changed it.
    """
    if isinstance(event, StaleSaved) and event.node in useful_nodes(run, event.by):
        return []
    walkers = [d for d in event.node.walked_by if d.kind != "grad" and not d.create_graph]
    vain = [d for d in dict.fromkeys(walkers) if unconsumed_edges(run, d, shared=False)]
    unique = list({d.call: d for d in vain}.values())
    if not unique:
        return []
    sets = [tuple(o for o in vain if o is d or (o.call is d.call and _take_turns(o, d))) for d in unique]
    if len(vain) > 1 and tuple(vain) not in sets:
        sets.append(tuple(vain))
    return sets


Edge = tuple[Node, Value, ast.expr]
"""A node, its operand whose gradient nobody consumes, and the expression of that operand."""


@once
def unconsumed_edges(run: Run, d: Differentiation, shared: bool = True, *, inner: bool = False) -> list[Edge]:
    """Where a differentiation walks into graph whose gradient no step consumes.

    With `shared`, the edges by which it enters what other differentiations walk too (`fake` itself, not what the
    discriminator makes of it); without, those by which it leaves the part whose gradient is consumed. The expressions
    are those of the outermost calls, or of the `inner` ones.
    """
    useful = useful_nodes(run, d)
    found: dict[ast.expr, Edge] = {}
    for node in d.walked if useful else ():
        if (node not in useful and not shared) or (shared and _shared(node, d) and node not in useful):
            continue
        for parent in node.parents:
            if parent.leaf or parent.weak or parent in useful or not _has_leaf(parent):
                continue
            if shared and not _shared(parent, d):
                continue
            for operand in node.operands:
                if getattr(operand, "node", None) is parent:
                    expression = _expression(node, operand, inner)
                    if expression is not None:
                        found.setdefault(expression, (node, operand, expression))
    return list(found.values())


@once
def useful_nodes(run: Run, d: Differentiation) -> set[Node]:
    """What a differentiation walks on its way to leaves whose gradient a step consumes."""
    consumed = _consumed(run).get(d, set())
    useful: set[Node] = set()
    for node in sorted(d.walked, key=lambda n: n.number) if consumed else ():
        if node in consumed or any(p in useful for p in node.parents):
            useful.add(node)
    return useful


@once
def _consumed(run: Run) -> dict[Differentiation, set[Node]]:
    """The leaves of which a step consumes the gradient that a differentiation gives."""
    found: dict[Differentiation, set[Node]] = {}
    for leaf, ds in (pair for step in run.machine.steps for pair in step.consumed):
        for d in ds:
            found.setdefault(d, set()).add(leaf)
    return found


def _shared(node: Node, d: Differentiation) -> bool:
    others = (o for o in node.walked_by if o is not d)
    return any(o.call is not d.call or o.loops == d.loops or _take_turns(o, d) for o in others)


def _take_turns(one: Differentiation, other: Differentiation) -> bool:
    """Whether a loop over losses that were made before it differentiates one in one pass, and the other in another."""
    apart = diverge(one.loops, other.loops)
    if apart is None or one.roots == other.roots:
        return False
    return all(pass_of(root.loops, apart[0].activation) is None for root in (*one.roots, *other.roots))


def _has_leaf(node: Node) -> bool:
    return any(n.leaf for n in ancestors([node]))


def _expression(node: Node, operand: Value, inner: bool) -> ast.expr | None:
    """The expression of an operand at the outermost call that is given it: `D(fake)`, not a line inside of `D`.

    The `inner` one is that a call further in: of a function to which others hand one fake and another.
    """
    found = [expression_of(node, operand)]
    if isinstance(operand, (Tensor, Opaque)):
        found += handed(node.chain, operand)
    return found[-2] if inner and len(found) > 1 else found[-1]


def _candidates(
    program: Program, run: Run, event: SecondWalk | StaleSaved, cuts: list[tuple[Differentiation, ...]]
) -> Iterator[Candidate]:
    from autodetach.candidates.bound_before_loop import bound_before_loop
    from autodetach.candidates.handed_through import handed_through
    from autodetach.candidates.own_inputs import restricted

    tried: list[Sequence[ast.expr]] = []
    stepped = isinstance(event, StaleSaved) or stepped_between(run, event.node.walked_by[0], _second(event))
    doubt = "a step stands in between: the second loss may be meant to be computed again behind it" if stepped else None
    for inner in (False, True):
        for group, shared in ((g, s) for g in cuts for s in (True, False)):
            edges = [edge for d in group for edge in unconsumed_edges(run, d, shared, inner=inner)]
            expressions = list({e: None for _, _, e in edges})
            if not expressions or expressions in tried:
                continue
            tried.append(expressions)
            alike = [e for one in expressions for e in _alike(program, one)]
            if handed_through(program, edges):
                every, walked = _given(run, [*expressions, *alike], shared, inner)
                handed_in = handed_through(program, every)
                if handed_in and handed_in not in tried:
                    tried.append(handed_in)
                    yield from _detached(handed_in, [*group, *walked], doubt)
            ones = [*_detached(expressions, group, doubt, last_resort=inner)]
            if len(ones) > 1 and not inner:
                ones[1:1] = _all_detached(run, _second(event), tried, doubt)
            yield from ones
            begun = bound_before_loop(program, expressions)
            if begun and begun not in tried:
                tried.append(begun)
                yield from _detached(begun, group, doubt, last_resort=inner)
            if alike:
                _, walked = _given(run, alike, shared, inner)
                yield from _detached([*expressions, *alike], [*group, *walked], doubt, last_resort=True)
        if not inner:
            yield from _called_again(program, run, _second(event))
            yield from restricted(program, run, _second(event))


def _all_detached(
    run: Run, second: Differentiation, tried: list[Sequence[ast.expr]], doubt: str | None
) -> list[Candidate]:
    """Detach what all losses of a pass walk into in vain, and retain no graph: to do so for one leaves what raises."""
    together = [d for d in run.machine.differentiations if d.loops == second.loops and d.kind != "grad"]
    walking = {d: unconsumed_edges(run, d) for d in together if not d.create_graph}
    walking = {d: edges for d, edges in walking.items() if edges}
    expressions = list({e: None for edges in walking.values() for _, _, e in edges})
    if len({d.call for d in walking}) < 2 or expressions in tried:
        return []
    tried.append(expressions)
    return [*_detached(expressions, walking, doubt)][:-1]


def _detached(
    expressions: Sequence[ast.expr], walking: Iterable[Differentiation], doubt: str | None, *, last_resort: bool = False
) -> Iterator[Candidate]:
    """Detach them all; at first so that no graph is retained for those that walk it any more."""
    from autodetach.codemods.append_method import AppendMethod

    codemods = tuple(AppendMethod(e, "detach") for e in expressions)
    shown = listed(expressions)
    removals = without_retain(n for d in walking for n in d.walked)
    if removals:
        yield Candidate(f"detach {shown}, and retain no graph", (*codemods, *removals), doubt, last_resort=last_resort)
    yield Candidate(f"detach {shown}", codemods, doubt, last_resort=last_resort)


def _called_again(program: Program, run: Run, d: Differentiation) -> Iterator[Candidate]:
    from autodetach.candidates.called_again import called_again

    edges = unconsumed_edges(run, d, shared=False)
    useful = [n for n in useful_nodes(run, d) if not n.leaf]
    both = [n for n in useful if _shared(n, d)]
    own = [n for n in useful if n not in both]
    if not edges or not both:
        return
    given = list(dict.fromkeys(e for _, _, e in edges))
    leading = _made_of({node for node, _, _ in edges}, both)
    if len(leading) < len(both):  # by the rest, both losses may reach what is trained: its graph stays retained
        yield from called_again(program, d, leading, own, given, is_all=False)
    yield from called_again(program, d, both, own, given)


def _made_of(first: set[Node], among: Collection[Node]) -> list[Node]:
    """Of some nodes, the first ones and what is made of these, one of the other."""
    found = set(first)
    for node in sorted(among, key=lambda n: n.number):
        if any(parent in found for parent in node.parents):
            found.add(node)
    return [n for n in among if n in found]


def _alike(program: Program, expression: ast.expr) -> Iterator[ast.expr]:
    """What is given to the same function elsewhere in this one: it raises there too, once it does not raise here."""
    call = program.parents.get(expression)
    if not isinstance(call, ast.Call) or expression not in call.args:
        return
    place = call.args.index(expression)
    for other in walk(program.scope(expression)):
        if isinstance(other, ast.Call) and other is not call and len(other.args) == len(call.args):
            given = other.args[place]
            if _called(other) == _called(call) and isinstance(given, (ast.Name, ast.Attribute)):
                yield given


def _given(
    run: Run, expressions: list[ast.expr], shared: bool, inner: bool
) -> tuple[list[Edge], list[Differentiation]]:
    """The edges by which expressions give graph to those that walk it in vain, and these."""
    edges: list[Edge] = []
    walking: list[Differentiation] = []
    for d in run.machine.differentiations:
        given = [edge for edge in unconsumed_edges(run, d, shared, inner=inner) if edge[2] in expressions]
        edges += given
        walking += [d] if given else []
    return edges, walking


def _called(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else spelled(call.func)


RULE = rule(__doc__, "AD203", "attached-fake", find)
