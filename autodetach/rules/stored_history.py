"""A container keeps tensors together with their autograd graph.

## What it does
Reports `losses.append(loss)`, `history["loss"].append(loss)`, `outputs += [out]`, `log[step] = loss` and their like,
where what is stored is never differentiated through the container, or only by the pass that has put it there, which
reads the end of the list and leaves the rest. A function that closes over a tensor keeps it, too. So does a list that a
comprehension makes over many things, `[step(x) for x in loader]`, and `list(...)` of a generator or of `map`.

## Why is this bad
Each element keeps the whole graph that made it: nodes if `backward()` ran, and all activations if it did not.

## Example
```python
losses = []
for x, y in loader:
    loss = criterion(model(x), y)
    loss.backward()
    losses.append(loss)
```

## Use instead
```python
    losses.append(loss.item())
```

## Fix safety
Safe: what is differentiated stays the same. `.item()` is used for a scalar that is only used as a number, `.detach()`
where a tensor is needed later (`torch.stack(losses)`), where something is divided by it, or it takes part in a power
(Python's numbers raise there what tensors do not), or where the container leaves the code in view. Of what a pass puts
together of what an inner loop has gathered (`torch.cat(fakes)`), each part is detached. What a call returns that gives
None, or a number, for some batches has a name, and is detached if it is a tensor. What a function is given is
detached where others in its place give numbers: `func(out.detach(), y)`. A record whose loss the caller differentiates
lets go of its graph behind that, if nobody else has it. A forward hook that a function gives a layer each time that it
is called, or that an object gives it when a function makes that, is removed when the layer has run; unsafe, as what the
layer computes later may be meant to be kept. A list of
which each pass differentiates the end is emptied once that is read, if nothing else looks into it. What is a key
elsewhere, is compared by `is`, or is looked for in a list has no repair: a tensor that is detached is another one.
Unsafe if the value has history by assumption, or where a function of an imported file returns it, with a graph that is
still whole; where no detach is enough, so that the calls which begin the graph go under `no_grad`, but not inside of a
function that others may train through; where a copy of a list or a dict is stored that takes more behind that; where a
cache whose key changes in every pass keeps its current entry only; where other functions of a file read the list, which
nothing calls: if one empties it, that is called behind the step; and where what is stored has a tag, and a loop that
tests tags has a branch that no path has led to. Unsafe, too, where a setting that is written in the program, such as
`AUX = 0`, a parameter's default or an entry of a dict, turns off what differentiates it, or a class that nothing makes
does, which is derived from the one that keeps it, where a function returns what it gathers and others, which no run has
shown, call it, or only a file that trains nothing does under
`if __name__ == "__main__"`, where a loss is given the mere values as one of its terms, and nothing else trains what
they were made of, and where a record that a step returns behind its backward is made of the values, or lets go of its
graph while others may have it.

## When it stays silent
When any path differentiates what was stored after the pass that stored it (REINFORCE, losses summed after the loop), or
another program of the same run that shares the file, when most of its graph waits for such a differentiation anyway,
when what one step has stored is detached behind its backward,
when a backward raises for want of a graph since it is given the mere values of what is stored
(`torch.tensor(losses).mean().backward()`), or trains nothing for want of it,
when a function returns what it made of the steps of a loop, but for what each has searched from a start of its own by
`torch.autograd.grad`, when the container is emptied or replaced in every pass,
when what counted steps have stored, a roll-out made anew each time, is read with `detach()`, unless these are many,
when a forward hook keeps it in an attribute that nobody in view reads, when files that train nothing keep it in a
public one that nothing in view reads, when a method of a network returns most of its
graph to callers out of view, or, in an imported file, a sequence that it goes on with until it finds its end, when
code out of view is given the network whose method stores it, which may train it, inside one `forward`, under
`no_grad`, where such a branch differentiates (`if is_learned: loss.backward()`), and in a test of pytest or unittest
that trains nothing, or in what that calls of other files.

## References
- https://docs.pytorch.org/docs/stable/notes/faq.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from autodetach.candidates.changed_later import changed_later
from autodetach.candidates.cleared_behind import cleared_behind
from autodetach.candidates.current_entry import current_entry, is_cached
from autodetach.candidates.detaching import element_candidates, has_graph, leaves_of_display, narrowed_to, structural
from autodetach.candidates.emptied_behind_read import emptied_behind_read
from autodetach.candidates.extending import DETACHED_DICT, extending, joining, merging
from autodetach.candidates.frozen_results import frozen_results
from autodetach.candidates.gathered_parts import gathered_parts
from autodetach.candidates.given_without_graph import given_without_graph
from autodetach.candidates.gradient_by_hand import set_without_its_graph
from autodetach.candidates.handed_back import with_doubt
from autodetach.candidates.hooks_of_objects import hooks_of_objects_removed
from autodetach.candidates.hooks_removed import hooks_removed
from autodetach.candidates.in_closures import detached_in_closures, keeping
from autodetach.candidates.let_go import let_go_behind
from autodetach.candidates.registries import of_registry
from autodetach.candidates.results_of_steps import made_of_values
from autodetach.candidates.set_in_records import set_without_graph
from autodetach.candidates.states_in_records import detached_parts
from autodetach.candidates.stored_too import stored_too
from autodetach.candidates.without_graph import computed_without_graph
from autodetach.finding import Severity, StoryStep
from autodetach.machine.children import walk
from autodetach.machine.events import Stored
from autodetach.machine.graph import Node
from autodetach.machine.growth import Growth, makers_of_returned
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Class, Frame, Instance
from autodetach.machine.run import Run
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.untrained import is_taken_for_constant
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.held_by_chain import is_held_by_chain
from autodetach.view.hooked import is_kept_for_others
from autodetach.view.lifetime import comes_again, left_of, walked
from autodetach.view.program import Program, handed, line, observed_of, stable, text
from autodetach.view.summed_lists import is_list_of_numbers
from autodetach.view.told_apart import is_told_apart
from autodetach.view.told_by_tag import asks_where_not_reached, is_differentiated_where_not_reached
from autodetach.view.unread_attributes import holder_of, is_for_others, is_read

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

PART_OF_LOSS = "a loss takes the values for constants, which nothing else trains: they may be meant to be trained by it"


def find(program: Program) -> Iterator[Suspect]:
    for growth in program.growths:
        if growth.kind == "store" and growth.stored is not None:
            suspect = _suspect(program, growth)
            if suspect is not None:
                yield suspect


def _suspect(program: Program, growth: Growth) -> Suspect | None:
    stored = growth.stored
    assert stored is not None
    statement = program.statement(stored.site.node)
    if statement is None or stored.element is None or is_kept_for_others(program, stored.site.node):
        return None
    if is_list_of_numbers(stored) or is_differentiated_where_not_reached(program, stored):
        return None
    if is_for_others(program, growth, stored):
        return None
    built, graph = f"`{text(stored.element)}`", "its autograd graph"
    if stored.gradient_of is not None:
        built, graph = f"the gradient of {built}", "the autograd graph of its gradient"
    elif keeping(stored.value):
        built, graph = f"what {built} closes over", "the autograd graph of what it closes over"
    story = [StoryStep(line(growth.node.site), f"every pass builds a new graph for {built}")]
    story += walked(growth)
    keeper = stored.observed or "the container refers to it"
    story.append(StoryStep(line(stored.site), keeper))
    story += comes_again(growth, "stores another one", "for as long as this loop runs", _until(stored))
    need = "nothing needs it once its key has changed" if is_cached(program, statement) else "only its value is used"
    need = "later passes do not read it" if growth.tails is not None else need
    return Suspect(
        ("AD102", stored.site.scope, program.spot(statement), stable(stored.element)),
        stored.element,
        f"`{text(stored.element)}` is stored with {graph} in every pass ({left_of(growth)}); {need}",
        Severity.WARNING if growth.dead else Severity.ERROR,
        tuple(story),
        growth.certain,
        () if growth.certain else (f"{program.place(growth.node.site)}: the value has history",),
        lambda: with_doubt(program, growth, of_registry(program, growth, _doubted(program, growth))),
        observed=_observed(program, growth.node, stored),
        lasts=lambda edited: is_held_by_chain(
            program, edited, growth, [growth.node], dies=_dies_with_loop(program, growth)
        ),
    )


def _dies_with_loop(program: Program, growth: Growth) -> bool:
    """Whether the container is a variable of the function that has the loop, and nothing else gets what is in it."""
    frame, stored = growth.activation.frame, growth.stored
    if not isinstance(frame, Frame) or stored is None or stored.container.born < frame.started:
        return False
    if not isinstance(holder_of(program, stored), ast.Name):
        return False
    events = (*growth.run.machine.stored, *growth.run.machine.filled)
    is_alone = all(e.container is stored.container for e in events if e.node is growth.node)
    return is_alone and growth.node not in makers_of_returned(frame)


def _until(stored: Stored) -> str:
    """What ends the growth before its loop ends, if anything does."""
    container = stored.container
    if isinstance(container, Sequence) and container.maxlen is not None:
        return "until the deque is full"
    if isinstance(container, Sequence) and stored.how == "new key":
        return "until all places of the list are filled"
    return ""


def _observed(program: Program, node: Node, stored: Stored) -> tuple[str, ...]:
    """What only a run has shown: that the value has history, that something out of view keeps it."""
    kept = (f"{program.place(stored.site)}: {stored.observed}",) if stored.observed else ()
    return (*observed_of(program, (node,)), *kept)


def _doubted(program: Program, growth: Growth) -> Iterator[Candidate]:
    """What an object keeps between calls from elsewhere, and nothing in view reads, somebody else may differentiate."""
    stored = growth.stored
    assert stored is not None
    if is_told_apart(program, stored):
        return
    if is_taken_for_constant(growth.run, {growth.node, *(e.node for e in growth.elements)}):
        yield from (replace(c, doubt=c.doubt or PART_OF_LOSS) for c in _candidates(program, growth))
    elif growth.dead or growth.activation.node is not None or is_read(program, stored):
        doubt_of_tag = asks_where_not_reached(program, stored)
        yield from (replace(c, doubt=c.doubt or doubt_of_tag) for c in _candidates(program, growth))
    else:
        doubt = "nothing in view reads what is kept: who does may differentiate it"
        yield from (replace(c, doubt=c.doubt or doubt) for c in _candidates(program, growth))


def _candidates(program: Program, growth: Growth) -> Iterator[Candidate]:
    stored = growth.stored
    assert stored is not None
    assert stored.element is not None
    if growth.tails is not None:
        yield from emptied_behind_read(program, growth.tails, stored)
        return
    yield from frozen_results(program, growth.run)
    if stored.gradient_of is not None:
        yield from set_without_its_graph(program, growth)
        return
    if keeping(stored.value):
        yield from detached_in_closures(program, stored.value)
    yield from gathered_parts(program, growth)
    targets = [(narrowed_to(e, v), v) for e, v in leaves_of_display(stored.element, stored.value)]
    # What an object keeps between calls from elsewhere may be read elsewhere, as a tensor.
    number = growth.activation.node is not None and not _is_changed_since(growth.run, stored)
    if stored.how == "extend":
        yield from extending(program, stored, number=number)
    elif targets:
        yield from merging(program, stored)
        found = list(element_candidates(program, targets, number=number, what="store"))
        others = stored_too(program, stored.element, holder_of(program, stored))
        if others:
            every = [*targets, *((e, stored.value) for e in others)]
            everywhere = element_candidates(program, every, number=number, what="store everywhere")
            yield from (candidate for candidate in everywhere if not candidate.last_resort)
        yield from (candidate for candidate in found if not candidate.last_resort)
        yield from (replace(candidate, last_resort=True) for candidate in _handed_over(stored))
        yield from given_without_graph(program, stored.element, stored.tensor)
        yield from (candidate for candidate in found if candidate.last_resort)
    elif isinstance(stored.element, (ast.Name, ast.Attribute, ast.Subscript, ast.Call)):
        if isinstance(stored.value, Sequence) and stored.value.items:
            yield from joining(stored.element, stored.value.items[-1])
        is_mixed = _is_mixed(stored.value)
        if is_mixed:
            yield from _handed_over(stored)
        yield from _whole(program, stored.element, stored.value)
        yield from _attributes(program, stored.element, stored.value)
        yield from _built(program, stored, number=growth.activation.node is not None)
        if not is_mixed:
            yield from _handed_over(stored)
    elif isinstance(stored.element, (ast.Tuple, ast.List)) and isinstance(stored.value, Sequence):
        parts = [
            (e, v) for e, v in zip(stored.element.elts, stored.value.items, strict=False) if next(graph_in(v), None)
        ]
        if len(parts) == 1 and isinstance(parts[0][0], (ast.Name, ast.Attribute, ast.Subscript)):
            yield from _whole(program, *parts[0])
    elif isinstance(stored.element, ast.Dict):
        for key, element in zip(stored.element.keys, stored.element.values, strict=True):
            if key is None:
                yield from _whole(program, element, stored.value)
    yield from detached_parts(program, stored)
    keeper = growth.keeper
    if keeper is not None and keeper is not stored and isinstance(keeper.element, (ast.Name, ast.Attribute)):
        # What is put together here is used elsewhere, with its graph: only the copy that is kept goes without.
        yield from _whole(program, keeper.element, keeper.value)
    yield from set_without_graph(program, growth)
    yield from computed_without_graph(program, growth)
    yield from hooks_removed(program, growth)
    yield from hooks_of_objects_removed(program, growth)
    yield from cleared_behind(program, growth, holder_of(program, stored))
    yield from current_entry(program, program.statement(stored.site.node))
    yield from (replace(candidate, last_resort=True) for candidate in made_of_values(program, growth))
    yield from let_go_behind(program, growth)


def _is_changed_since(run: Run, stored: Stored) -> bool:
    """Whether a tensor was changed in place after it was stored: what is stored shows that, and a number would not."""
    alike = (one for one in run.machine.stored if one.site.node is stored.site.node)
    return any(isinstance(one.tensor, Tensor) and one.tensor.storage.changes > one.version for one in alike)


def _whole(program: Program, element: ast.expr, value: Value) -> Iterator[Candidate]:
    """A container that is used elsewhere too: a copy of it with detached tensors is stored."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    new = structural("{}", value)
    if _is_mixed(value) and program.imports_torch(element):
        new = DETACHED_DICT
        if isinstance(value, Sequence):
            each = "v.detach() if torch.is_tensor(v) else v for v in {}"
            new = f"tuple({each})" if value.kind == "tuple" else f"[{each}]"
    if new is not None and (new.count("{}") == 1 or not isinstance(element, ast.Call)):
        doubt = None if has_graph(value) else changed_later(program, element)
        yield Candidate(f"store a detached copy of `{text(element)}`", (ReplaceExpression(element, new),), doubt)


def _is_mixed(value: Value) -> bool:
    """Whether a dict, tuple or list has tensors in it, and other values without graph, or may have such."""
    if isinstance(value, Mapping):
        others = [v for _, v in value.items.values() if not isinstance(v, (Tensor, Opaque))]
        return (not value.items or bool(others)) and not any(any(graph_in(v)) for v in others)
    if not isinstance(value, Sequence) or value.kind not in ("tuple", "list"):
        return False
    others = [v for v in value.items if not (isinstance(v, Tensor) or (isinstance(v, Opaque) and v.node is not None))]
    return bool(others) and not any(any(graph_in(v)) for v in others)


def _attributes(program: Program, element: ast.expr, value: Value) -> Iterator[Candidate]:
    """Of an object that is filled where it is stored (`stats.loss = loss`), what has history goes in without."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression

    if not isinstance(value, Instance) or not isinstance(element, ast.Name):
        return
    codemods: list[Codemod] = []
    for name, held in value.attrs.items():
        if next(graph_in(held), None) is None:
            continue
        written = list(_written(program.scope(element), element.id, name))
        if not written:
            return
        for e in written:
            new = structural(_copied(e) or "{}", held)
            if new is None or new.count("{}") > 1:
                return
            codemods.append(AppendMethod(e, "detach") if has_graph(held) else ReplaceExpression(e, new))
    if codemods:
        yield Candidate(f"fill `{text(element)}` with values without their graph", tuple(codemods))


def _built(program: Program, stored: Stored, *, number: bool) -> Iterator[Candidate]:
    """A record that is made elsewhere, `add(Record(step, loss))`, is made of the values."""
    value = stored.value
    if not isinstance(value, Instance):
        return
    expressions = (stored.element, *handed(stored.chain, value))
    given = [_only_value(program, e) if isinstance(e, ast.Name) else e for e in expressions]
    calls = [call for call in given if isinstance(call, ast.Call)]
    makers = [call for call in calls if last_word(call.func) == value.cls.name]
    for call in dict.fromkeys((*makers, *_only_construction(program, value), *calls)):
        targets = leaves_of_display(call, value)
        yield from element_candidates(program, targets, number=number, what="store") if targets else ()


def _only_construction(program: Program, value: Instance) -> Iterator[ast.Call]:
    """The call that makes objects of a class in view, if there is but one: `Record(loss)`, by whatever way it came."""
    if isinstance(value.cls, Class):
        nodes = (n for tree in program.analysis.trees for n in walk(tree) if isinstance(n, ast.Call))
        calls = [call for call in nodes if last_word(call.func) == value.cls.name]
        yield from calls if len(calls) == 1 else ()


def _only_value(program: Program, name: ast.Name) -> ast.expr | None:
    """What the one assignment to a local variable of a function gives it."""
    bound = [n for n in walk(program.scope(name)) if isinstance(n, ast.Name) and n.id == name.id]
    targets = [n for n in bound if not isinstance(n.ctx, ast.Load)]
    statement = program.parents.get(targets[0]) if len(targets) == 1 else None
    return statement.value if isinstance(statement, ast.Assign) else None


def _copied(expression: ast.expr) -> str | None:
    """`buffer.losses` of `list(buffer.losses)`."""
    if isinstance(expression, ast.Call) and spelled(expression.func) in ("list", "tuple") and len(expression.args) == 1:
        (copied,) = expression.args
        return spelled(copied) if isinstance(copied, (ast.Name, ast.Attribute)) else None
    return None


def _written(scope: ast.AST, name: str, attribute: str) -> Iterator[ast.expr]:
    """What a function assigns to an attribute of a variable."""
    for statement in walk(scope):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            (target,) = statement.targets
            if spelled(target) == f"{name}.{attribute}":
                yield statement.value


def _handed_over(stored: Stored) -> Iterator[Candidate]:
    """What a method takes as one of many (`*args`), or from others as a number, is detached where it is handed over."""
    from autodetach.codemods.append_method import AppendMethod

    given = next(handed(stored.chain, stored.tensor), None)
    if given is None:
        return
    message = f"hand over the value without its graph: `{text(given)}.detach()`"
    yield Candidate(message, (AppendMethod(given, "detach"),))
    # The state of the step before has its graph, too.
    beside = (next(handed(stored.chain, tensor), None) for tensor in graph_in(stored.value))
    every = list(dict.fromkeys(e for e in beside if e is not None))
    if len(every) > 1:
        shown = " and ".join(f"`{text(e)}`" for e in every)
        message = f"hand over the values without their graph: `.detach()` on {shown}"
        yield Candidate(message, tuple(AppendMethod(e, "detach") for e in every))


RULE = rule(__doc__, "AD102", "stored-history", find)
