"""A state with history is carried from one pass into the next.

## What it does
Reports recurrent states, memories, running statistics and their like that are read in a later pass with the graph of
an earlier one, where that graph was freed (the second backward raises), changed by a parameter step (the in-place
error), kept by a pasted `retain_graph=True`, or never differentiated at all.

## Why is this bad
`RuntimeError: Trying to backward through the graph a second time` in pass two. With `retain_graph=True` it becomes
"modified by an inplace operation", or each pass walks the graphs of all passes before it.

## Example
```python
h = torch.zeros(1, 8)
for x, y in loader:
    out, h = rnn(x, h)
    loss = criterion(out, y)
    loss.backward()
    optimizer.step()
```

## Use instead
```python
    optimizer.step()
    h = h.detach()
```

## Fix safety
Unsafe where gradient of earlier passes is cut off: truncated backpropagation is what most people want, but a state
that is made anew for each sample, or one backward after the loop, may be what you meant. Safe where nothing is
differentiated at all. The state is detached where it enters the next pass, never inside a cell, and never where it
still feeds the loss of its own pass.

## When it stays silent
When the state is detached, made anew, or under `no_grad`; in an unrolled loop with one backward behind it.

## References
- https://docs.pytorch.org/docs/stable/notes/faq.html
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, TypeGuard

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import Stored
from autodetach.machine.graph import Activation, Differentiation, Node, Pass, diverge
from autodetach.machine.growth import Growth, expression_of, pass_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Opaque, Sequence, Tensor, Value
from autodetach.rules.detaching import leaves_of_display, structural
from autodetach.rules.holders import (
    Holder,
    Moment,
    Replay,
    behind_step,
    inside,
    moment,
    of_list,
    placed,
    replay,
    rooted,
    twin,
)
from autodetach.rules.own_term import own_terms
from autodetach.rules.program import (
    Program,
    assumptions_of,
    fault_of,
    handed,
    is_assumed,
    line,
    observed_of,
    stable,
    stepped_between,
    text,
)
from autodetach.rules.reads import Crossed, Repair, at_read
from autodetach.rules.suspect import OF_UPDATES, Candidate, Suspect, rule

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

DRAWN = "what is drawn from a memory is taken for data; whether its makers learn through it, only its author knows"


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    for run in program.runs:
        for suspect in (*_errors(program, run), *_walked_again(program, run)):
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect
    for growth in program.growths:
        if growth.kind == "chain" and not growth.linear:
            suspect = _grown(program, growth)
            if suspect.key not in seen:
                seen.add(suspect.key)
                yield suspect


# ---- suspects


def _errors(program: Program, run: Run) -> Iterator[Suspect]:
    for walk in run.machine.second_walks:
        apart = diverge(walk.node.loops, walk.second.loops)
        if apart is not None:
            crossed = list(crossings(walk.second, apart[1], apart[0]))
            if crossed:
                yield _raising(program, run, walk.second, walk.path, walk.node, walk.first, apart, crossed)
    for stale in run.machine.stale:
        apart = diverge(stale.node.loops, stale.by.loops)
        if apart is not None:
            crossed = list(crossings(stale.by, apart[1], apart[0]))
            if crossed:
                yield _raising(program, run, stale.by, stale.path, stale.node, None, apart, crossed)


def crossings(d: Differentiation, now: Pass, before: Pass) -> Iterator[Crossed]:
    """Where a differentiation enters graph of earlier passes of a loop."""
    for node in d.walked:
        if now not in node.loops:
            continue
        yield from crossed_operands(node, now)


def crossed_operands(node: Node, now: Pass) -> Iterator[Crossed]:
    """The operands of a node that were made in earlier passes of the loop."""
    for parent in node.parents:
        there = pass_of(parent.loops, now.activation)
        if parent.leaf or parent.weak or there is None or there is now:
            continue
        operands: list[Value] = [o for o in node.operands if getattr(o, "node", None) is parent]
        if not operands:  # changed in place since: it has a younger node by now
            operands = [o for o in node.operands if isinstance(o, (Tensor, Opaque))][:1]
        for operand in operands:
            yield node, operand, parent


def _raising(
    program: Program,
    run: Run,
    d: Differentiation,
    path: tuple[Node, ...],
    node: Node,
    first: Differentiation | None,
    apart: tuple[Pass, Pass],
    crossed: list[Crossed],
) -> Suspect:
    reader, operand, maker = crossed[-1]
    named = expression_of(reader, operand)
    state = text(named) if named is not None else run.machine.state_names.get(operand) or "a state"
    before, now = apart
    story = [StoryStep(line(maker.site), f"pass {before.index + 1}: builds the graph of `{state}`")]
    if first is not None:
        story.append(StoryStep(line(first.call), f"pass {before.index + 1}: backward frees it"))
        end = "needs the freed part again: PyTorch raises"
    else:
        end = "needs tensors that a parameter step has changed in place since: PyTorch raises"
    story.append(StoryStep(line(reader.site), f"pass {now.index + 1}: reads that `{state}` with its old graph"))
    story.append(StoryStep(line(d.call), f"pass {now.index + 1}: {end}"))
    return Suspect(
        ("AD302", d.scope, stable(d.call)),
        d.call if not isinstance(reader.site.node, ast.expr) else reader.site.node,
        f"`{state}` carries its graph from one pass into the next, and `{text(d.call)}` walks into it",
        Severity.ERROR,
        tuple(story),
        not is_assumed(path),
        assumptions_of(program, path),
        lambda: _candidates(program, run, d, now, before, crossed),
        fault_of(d),
        observed_of(program, (*path, maker)),
    )


def _walked_again(program: Program, run: Run) -> Iterator[Suspect]:
    """Retained graph of an earlier pass is walked again in a later one, with a step in between: no error, but wrong."""
    if not any(d.retain for d in run.machine.differentiations):
        return
    for d in run.machine.differentiations:
        if d.kind == "grad" or d.create_graph or d.raised:
            continue
        for node in d.walked:
            if len(node.walked_by) < 2 or node.leaf or node.weak or not node.saves:
                continue
            old = next((o for o in node.walked_by if o.number < d.number and o.retain and o.kind != "grad"), None)
            apart = diverge(node.loops, d.loops)
            if old is None or apart is None or not stepped_between(run, old, d) or apart[0] not in old.loops:
                continue
            crossed = list(crossings(d, apart[1], apart[0]))
            if crossed:
                yield _retained(program, run, d, node, apart, crossed)
                return


def _retained(
    program: Program, run: Run, d: Differentiation, node: Node, apart: tuple[Pass, Pass], crossed: list[Crossed]
) -> Suspect:
    reader, operand, maker = crossed[-1]
    state = text(expression_of(reader, operand))
    before, now = apart
    story = (
        StoryStep(line(maker.site), f"pass {before.index + 1}: builds the graph of `{state}`"),
        StoryStep(line(d.call), f"pass {before.index + 1}: `retain_graph=True` keeps it"),
        StoryStep(line(reader.site), f"pass {now.index + 1}: reads that `{state}` with its old graph"),
        StoryStep(
            line(d.call), f"pass {now.index + 1}: walks both: every pass walks the graphs of all passes before it"
        ),
    )
    return Suspect(
        ("AD302", d.scope, stable(d.call)),
        d.call,
        f"`retain_graph=True` hides that `{state}` carries its graph from one pass into the next",
        Severity.ERROR,
        story,
        not node.assumed,
        (),
        lambda: _candidates(program, run, d, now, before, crossed, "the gradients of a program that runs today change"),
        fault_of(d),
        observed_of(program, (node,)),
    )


def _grown(program: Program, growth: Growth) -> Suspect:
    node = growth.node
    operand = next(
        (o for o in node.operands if (n := getattr(o, "node", None)) is not None and n.loops is not node.loops), None
    )
    expression = expression_of(node, operand) if operand is not None else None
    state = text(expression) if expression is not None else "a state"
    story = (
        StoryStep(line(node.site), f"every pass computes the next `{state}` from the one before, with its graph"),
        StoryStep(line(node.site), "nothing differentiates it: the graph grows for as long as the loop runs"),
    )
    return Suspect(
        ("AD302", node.site.scope, stable(node.site.node)),
        node.site.node,
        f"the graph of `{state}` grows with every pass",
        Severity.ERROR,
        story,
        growth.certain,
        (),
        lambda: _growth_candidates(program, growth),
        observed=observed_of(program, (node,)),
    )


# ---- candidates


def _candidates(
    program: Program,
    run: Run,
    d: Differentiation,
    now: Pass,
    before: Pass,
    crossed: list[Crossed],
    doubt: str | None = None,
) -> Iterator[Candidate]:
    from autodetach.codemods.set_keyword import SetKeyword

    again = replay(program, run, now.activation, now.index)
    same = twin(again.machine, d)
    if same is None:
        return
    same_now = pass_of(same.loops, _twin_activation(again, now))
    if same_now is None:
        return
    there = list(crossings(same, same_now, same_now))
    flags = [
        SetKeyword(o.call, "retain_graph", None)
        for o in run.machine.differentiations
        if o.retain
        and o.kind != "grad"
        and isinstance(o.retain_written, ast.keyword)
        and now.activation in _activations(o)
    ]
    removals = tuple({f.call: f for f in flags}.values())
    stored = list(_stored(run, crossed))
    appended = [e for e, _ in stored if e.how == "append"]
    draws = [draw for draw in run.machine.drawn if not draw.in_order]
    is_drawn = any(maker in draw.taken for draw in draws for _, _, maker in crossed)
    if is_drawn:
        appended = []  # what is drawn from a memory is meant to last
    emptied = list(_emptied(program, again, moment(same), now.activation, there, appended))
    found = [*_at_store(stored), *emptied]
    for message, codemods in (*found, *repairs(program, again, moment(same), now.activation, there)):
        if (message, codemods) in emptied:
            yield Candidate(message, codemods, doubt or "what else belongs to the emptied list, only its author knows")
            continue
        if removals:
            yield Candidate(message + ", and no graph is retained", (*codemods, *removals), doubt)
        yield Candidate(message, codemods, doubt)
    for message, codemods in _at_store(stored) if is_drawn else ():
        yield Candidate(message, codemods, doubt or DRAWN, cuts=True)
    if doubt is None:
        yield from _anew(program, again, moment(same), now.activation, crossed, there)
    yield from own_terms(program, d, crossed)


def _anew(
    program: Program,
    again: Replay,
    d: Moment,
    activation: Activation,
    crossed: list[Crossed],
    there: list[Crossed],
) -> Iterator[Candidate]:
    """What is made of trained parameters is made anew in every pass."""
    from autodetach.rules.anew import begun_anew, computed_anew

    yield from computed_anew(program, dict.fromkeys(maker for _, _, maker in crossed))
    chosen = _cover(program, again, d, activation, [operand for _, operand, _ in there])
    if not chosen:
        return
    frame = max(chosen.values(), key=lambda h: _inwardness(d, h)).frame
    statement = placed(program, d, frame, activation.node)
    if statement is not None:
        yield from begun_anew(program, chosen.values(), behind_step(program, again.machine, d, statement, frame))


def _activations(d: Differentiation) -> list[Activation]:
    return [p.activation for p in d.loops]


def _twin_activation(again: Replay, now: Pass) -> Activation:
    return next(a for a in again.machine.activations if a.number == now.activation.number)


def _stored(run: Run, crossed: list[Crossed]) -> Iterator[tuple[Stored, ast.expr]]:
    """Where operands of earlier passes were put into containers, and the expression that stands for them there."""
    makers = {maker for _, _, maker in crossed}
    for event in run.machine.stored:
        if event.how not in ("append", "key", "new key") or event.element is None or event.node not in makers:
            continue
        leaves = leaves_of_display(event.element, event.value)
        found = [e for e, value in leaves if value is event.tensor and not isinstance(e, ast.Starred)]
        for element in found or islice(handed(event.chain, event.tensor), 1):
            yield event, element


def _at_store(stored: list[tuple[Stored, ast.expr]]) -> Iterator[Repair]:
    """Detach where a container takes the tensor: it feeds no loss of its own pass through it."""
    from autodetach.codemods.append_method import AppendMethod

    elements = list(dict.fromkeys(element for _, element in stored))
    if elements:
        shown = ", ".join(f"`{text(e)}`" for e in elements)
        yield f"detach {shown} where it is stored", tuple(AppendMethod(e, "detach") for e in elements)


def _emptied(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed], stored: list[Stored]
) -> Iterator[Repair]:
    """Empty a list that grows from pass to pass, and those that grow with it, behind the step that has used it."""
    from autodetach.codemods.insert_statement import InsertStatement

    if not stored:
        return
    operands = [operand for _, operand, _ in crossed]
    lists = _cover(program, again, d, activation, operands, lambda o: [of_list(h) for h in again.of(o)])
    if not lists or not all(_is_list(h.value) for h in lists.values()):
        return
    frame = max(lists.values(), key=lambda h: _inwardness(d, h)).frame
    statement = placed(program, d, frame, activation.node)
    if statement is not None:
        texts = list(dict.fromkeys(t for h in lists.values() for t in (h.text, *_grown_alike(program, h))))
        anchor = _last_mention(program, behind_step(program, again.machine, d, statement, frame), texts)
        if _is_read_later(program, d, anchor, activation.node, texts):
            return
        shown = ", ".join(f"`{t}`" for t in texts)
        yield (
            f"empty {shown} when it has been used",
            (InsertStatement(anchor, "\n".join(f"{t}.clear()" for t in texts)),),
        )


def _is_read_later(program: Program, d: Moment, anchor: ast.stmt, loop: ast.AST | None, texts: list[str]) -> bool:
    """Whether anything behind a statement, or behind the calls that led to it, says the names of lists in this pass."""
    names = {t.rpartition(".")[2] for t in texts}
    begun = next((n for n, (s, _) in enumerate(d.trail) if s is loop), -1)
    block = program.block(anchor)
    for statement, _ in d.trail[begun + 1 :]:
        own = program.block(statement)
        later = block[block.index(anchor) + 1 :] if own is block else own[own.index(statement) + 1 :]
        if own is not block and not hasattr(statement, "body"):
            later = [statement, *later]
        if not names.isdisjoint(_names_in(later)):
            return True
    return False


def _names_in(statements: list[ast.stmt]) -> Iterator[str]:
    for statement in statements:
        for node in ast.walk(statement):
            if isinstance(node, ast.Name):
                yield node.id
            elif isinstance(node, ast.Attribute):
                yield node.attr


def _is_list(value: Value) -> TypeGuard[Sequence]:
    return isinstance(value, Sequence) and value.kind in ("list", "deque") and value.maxlen is None


def _grown_alike(program: Program, holder: Holder) -> Iterator[str]:
    """Lists next to a list, in its object or its frame, to which as much is appended: rewards next to log-probs."""
    base, dot, own = holder.text.rpartition(".")
    around = holder.owner.attrs if holder.owner is not None else holder.frame.names
    if not _is_list(holder.value) or (holder.owner is not None) != bool(dot) or not own.isidentifier():
        return
    appended = {
        node.func.value.attr if isinstance(node.func.value, ast.Attribute) else node.func.value.id
        for node in ast.walk(program.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "append"
        and isinstance(node.func.value, (ast.Attribute, ast.Name))
    }
    for name, value in around.items():
        if value is holder.value or not _is_list(value) or name not in appended:
            continue
        if len(value.items) == len(holder.value.items):
            yield f"{base}{dot}{name}"


def repairs(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed]
) -> Iterator[Repair]:
    """Where a state is cut: at the end of the pass if the loop has a name for it, else where it is read."""
    named = [h for _, operand, _ in crossed for h in again.of(operand)]
    if named and min(h.depth for h in named) >= 3:  # `net[1].v`: the loop has no good name for it
        yield from at_read(program, crossed)
        yield from boundary(program, again, d, activation, crossed)
    else:
        yield from boundary(program, again, d, activation, crossed)
        yield from at_read(program, crossed)


def boundary(
    program: Program, again: Replay, d: Moment, activation: Activation, crossed: list[Crossed]
) -> Iterator[Repair]:
    """Detach the bindings that carry the state, behind the step at the end of the pass."""
    from autodetach.codemods.insert_statement import InsertStatement

    chosen = _cover(program, again, d, activation, [operand for _, operand, _ in crossed])
    if not chosen or any(h.depth > 8 for h in chosen.values()):
        return
    early: list[Codemod] = []
    late: list[Codemod] = []
    for frame in dict.fromkeys(h.frame for h in chosen.values()):
        texts = [(h.text, structural(h.text, h.value)) for h in chosen.values() if h.frame is frame]
        statement = placed(program, d, frame, activation.node)
        if statement is None or any(new is None for _, new in texts):
            return
        anchor = behind_step(program, again.machine, d, statement, frame)
        names = all(t.isidentifier() and new == f"{t}.detach()" for t, new in texts)
        if names and len(texts) > 1:
            body = f"{', '.join(t for t, _ in texts)} = {', '.join(str(n) for _, n in texts)}"
        else:
            body = "\n".join(f"{t} = {n}" for t, n in texts)
        early.append(InsertStatement(anchor, body))
        late.append(InsertStatement(_last_mention(program, anchor, [t for t, _ in texts]), body))
    shown = ", ".join(f"`{t}`" for t in chosen)
    yield f"detach {shown} where it enters the next pass", tuple(early)
    yield f"detach {shown} at the end of the pass", tuple(late)


def _last_mention(program: Program, anchor: ast.stmt, texts: list[str]) -> ast.stmt:
    """The last statement of the block that says anything about what is to be detached: `h = out`, behind the step."""
    block = program.block(anchor)
    last = anchor
    for statement in block[block.index(anchor) + 1 :] if anchor in block else []:
        if isinstance(statement, (ast.Return, ast.Continue, ast.Break)):
            break
        if any(spelled(n) in texts for n in ast.walk(statement) if isinstance(n, (ast.Name, ast.Attribute))):
            last = statement
    return last


def _cover(
    program: Program,
    again: Replay,
    d: Moment,
    activation: Activation,
    operands: list[Value],
    holders_of: Callable[[Value], list[Holder]] | None = None,
) -> dict[str, Holder]:
    """The fewest bindings that hold all of the operands, nearest first; none if one operand has no name."""
    holders_of = holders_of or again.of
    left = {id(o): o for o in operands}
    chosen: dict[str, Holder] = {}
    while left:
        options: dict[str, tuple[set[int], Holder]] = {}
        for key, operand in left.items():
            for holder in holders_of(operand):
                holder = rooted(d, holder)
                if not _placeable(program, d, holder, activation):
                    holder = inside(d, holder, activation.node)
                if _placeable(program, d, holder, activation):
                    held, _ = options.setdefault(holder.text, (set(), holder))
                    held.add(key)
        if not options:
            return {}
        text_, (held, holder) = min(
            options.items(), key=lambda item: (-len(item[1][0]), item[1][1].depth, -_inwardness(d, item[1][1]))
        )
        chosen[text_] = holder
        for key in held:
            del left[key]
    return chosen


def _placeable(program: Program, d: Moment, holder: Holder, activation: Activation) -> bool:
    """Whether a statement in the holder's frame, inside of the loop, may rebind it."""
    return placed(program, d, holder.frame, activation.node) is not None


def _inwardness(d: Moment, holder: Holder) -> int:
    return max((i for i, (_, f) in enumerate(d.trail) if f is holder.frame), default=-1)


def _growth_candidates(program: Program, growth: Growth) -> Iterator[Candidate]:
    """A chain that nothing differentiates: detach it at the end of the pass, or where it is read."""
    now = pass_of(growth.node.loops, growth.activation)
    if now is None:
        return
    again = replay(program, growth.run, growth.activation, now.index)
    same = next((n for n in again.machine.nodes if n.number == growth.node.number), None)
    same_now = pass_of(same.loops, _twin_activation(again, now)) if same is not None else None
    if same is None or same_now is None:
        return
    crossed = list(crossed_operands(same, same_now))
    found = repairs(program, again, moment(same), growth.activation, crossed)
    if same.at is not None and same.at[1] is not _twin_activation(again, now).frame:
        # What a cell returns is not to be cut where it is written.
        found = iter([*at_read(program, crossed), *found])
    for message, codemods in found:
        yield Candidate(message, codemods)
    yield from _leaf_again(program, growth, crossed)


def _leaf_again(program: Program, growth: Growth, crossed: list[Crossed]) -> Iterator[Candidate]:
    """What `torch.autograd.grad` is asked about in every pass has to require grad when it is cut off."""
    from autodetach.codemods.append_method import AppendMethod

    asked = [
        d
        for d in growth.run.machine.differentiations
        if d.kind == "grad" and pass_of(d.loops, growth.activation) is not None
    ]
    made: dict[ast.expr, None] = {}
    for _, _, maker in crossed:
        place = maker.site.node
        statement = program.statement(place)
        if not isinstance(place, ast.expr) or not isinstance(statement, ast.Assign) or statement.value is not place:
            return
        made[place] = None
    if asked and made:
        shown = ", ".join(f"`{text(e)}`" for e in made)
        doubt = OF_UPDATES if any(d.create_graph for d in asked) else None
        again = tuple(AppendMethod(e, "detach().requires_grad_") for e in made)
        yield Candidate(f"make {shown} a leaf again", again, doubt)


RULE = rule(__doc__, "AD302", "carried-state", find)
