"""A trained tensor is rebound by its own update and is no leaf any more.

## What it does
Reports `w = w - lr * w.grad` and its kin in a loop: the new `w` is the result of an operation, so that its `.grad` is
None, or it does not require grad at all. So it is of several at once (`w, b = w - lr * w.grad, b - lr * b.grad`), of
entries of lists and dicts, in comprehensions, of what a function hands back, and of `torch.relu(x - lr * x.grad)`.

## Why is this bad
In the next pass `w.grad` is None and the update raises; where gradients come from `torch.autograd.grad`, or are kept by
`w.retain_grad()`, the graph of all passes is kept instead.

## Example
```python
w = torch.randn(3, requires_grad=True)
for step in range(100):
    loss = ((x @ w - y) ** 2).mean()
    loss.backward()
    w = w - lr * w.grad
```

## Use instead
```python
    with torch.no_grad():
        w -= lr * w.grad
    w.grad = None
```

## Fix safety
Safe when the program could only raise before: the update computes what was written. Unsafe when it runs today. Where
something holds the old tensor, as `path.append(w.detach())` or `start = list(ws)`, `w` becomes a new leaf instead of
being changed in place; also where the update may have another shape or type than `w`, which would keep its own, and
where `w` is bound again behind it, as by a clamp: what it is bound to last becomes the leaf. Unsafe where several are
updated at once, in a comprehension, by a function or inside of a call: the history may be wanted there. So it may where
the gradient was taken with `create_graph` or `retain_graph`, or the update depends on something else that requires
grad, as a learned rate. None is offered where what the updates begin with, or depend on, is trained behind them, by a
loss that would not reach it any more. Attributes of what may be a module, and entries of what may be a `ParameterList`,
have no repair.

## When it stays silent
When the update is in place, goes through `.data`, makes a new leaf, or is part of an unrolled inner loop
(`create_graph=True`, or a loss behind it that trains what it began with).

## References
- https://docs.pytorch.org/tutorials/beginner/pytorch_with_examples.html
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from autodetach.finding import Severity, StoryStep
from autodetach.machine.children import walk
from autodetach.machine.graph import Node
from autodetach.machine.growth import Growth
from autodetach.machine.spelling import spelled
from autodetach.machine.updates_on_tape import updates_on_tape
from autodetach.node_types import FUNCTIONS, LOOPS
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.own_gradient import (
    EntryUpdate,
    OwnUpdate,
    computed_with_none,
    entry_updates,
    gradients_of,
    own_updates,
    reads_of_none,
)
from autodetach.view.program import Program, is_update, line, observed_of, text

if TYPE_CHECKING:
    from autodetach.machine.run import Run


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    reads = [(spelled(reader.value), reader) for _, reader in reads_of_none(program)]
    tensors = _Tensors({owner for owner, _ in reads}, _growing_updates(program))
    for owner, reader in reads:
        statements = _updates(program, owner, reader, tensors)
        if statements and statements[0] not in seen:
            seen.update(statements)
            yield _suspect(program, statements, reader)
    for updates in own_updates(program):
        if program.statement(updates[0].made) not in seen:
            seen.add(program.statement(updates[0].made))
            yield _own(program, updates)
    for entries in _entries(program):
        if entries[0].statement not in seen:
            seen.update(one.statement for one in entries)
            yield _of_entries(program, entries)
    for statement, growth in tensors.growing.items():
        if statement not in seen:
            group = tensors.group(program, statement)
            seen.update(group)
            yield _growing(program, growth, group)
    for nodes in _on_tape(program):
        if program.statement(nodes[0].site.node) not in seen:
            yield _walked(program, nodes)


def _growing_updates(program: Program) -> dict[ast.Assign, Growth]:
    """The updates that keep the graph of all passes, each with the first growth that shows it."""
    found: dict[ast.Assign, Growth] = {}
    for growth in program.growths:
        if growth.kind == "chain" and growth.linear and not growth.elements:
            statement = program.statement(growth.node.site.node)
            if statement is not None and is_update(statement) and not _is_begun_with_number(growth):
                found.setdefault(statement, growth)
    return found


def _is_begun_with_number(growth: Growth) -> bool:
    """Whether what grows is a sum: `total = 0.0` is no tensor that could be meant to be a leaf again."""
    place = growth.node.site.node
    first = next((n for n in growth.run.machine.nodes if n.site.node is place), growth.node)
    read = place.left if isinstance(place, ast.BinOp) else None
    return any(isinstance(value, (int, float)) for at, value in first.site.operands if at is read)


@dataclass(frozen=True, slots=True)
class _Tensors:
    """What is seen to be rebound: `owners` of gradients that are None, and updates whose graph is `growing`."""

    owners: set[str]
    growing: dict[ast.Assign, Growth]

    def group(self, program: Program, statement: ast.Assign) -> list[ast.stmt]:
        """The updates of tensors in the run of consecutive updates around a statement."""
        block = program.block(statement)
        at = block.index(statement)
        begin = at
        while begin > 0 and self._goes_along(program, block[begin - 1]):
            begin -= 1
        end = at
        while end + 1 < len(block) and self._goes_along(program, block[end + 1]):
            end += 1
        return [s for s in block[begin : end + 1] if s is statement or self._rebinds(s)]

    def _goes_along(self, program: Program, statement: ast.stmt) -> bool:
        """Whether a statement is an update that may stand under `no_grad`: what has a graph of its own may not."""
        return is_update(statement) and (self._rebinds(statement) or not program.has_graph(statement))

    def _rebinds(self, statement: ast.stmt) -> bool:
        """Whether an update is that of a tensor with a gradient of its own, and not of a counter, rate or list."""
        if not is_update(statement):
            return False
        name = spelled(statement.targets[0])
        return statement in self.growing or name in self.owners or any(gradients_of(name, statement.value))


def _updates(program: Program, owner: str, reader: ast.AST, tensors: _Tensors) -> list[ast.stmt]:
    """The statements that rebind `owner` by an update of itself, with their neighbours of the same form."""
    scope = program.scope(reader)
    comprehension = next((at for at in program.enclosing(reader) if isinstance(at, ast.ListComp)), None)
    if comprehension is not None:
        statement = program.statement(comprehension)
        if (
            isinstance(statement, ast.Assign)
            and statement.value is comprehension
            and isinstance(comprehension.elt, ast.BinOp)
            and spelled(comprehension.elt.left) == owner
            and len(comprehension.generators) == 1
            and spelled(statement.targets[0]) == spelled(comprehension.generators[0].iter)
        ):
            return [statement]
        return []
    for node in walk(scope):
        if is_update(node) and spelled(node.targets[0]) == owner and _may_run_again(program, node):
            return tensors.group(program, node)
    return []


def _may_run_again(program: Program, node: ast.AST) -> bool:
    """Whether a statement stands in a loop, or in a function, which a loop may call."""
    return any(isinstance(at, (*LOOPS, *FUNCTIONS)) for at in program.enclosing(node))


def _suspect(program: Program, statements: list[ast.stmt], reader: ast.AST) -> Suspect:
    from autodetach.candidates.in_place_updates import names_of, of_updates

    names = names_of(statements)
    first = statements[0]
    shown = ", ".join(f"`{n}`" for n in names)
    story = (
        StoryStep(line(first), f"binds `{names[0]}` to the result of an operation: it is no leaf any more"),
        StoryStep(line(reader), f"next pass: `{text(reader)}` is None"),
    )
    return Suspect(
        ("AD303", *program.spot(_change(first))),
        first,
        f"the update rebinds {shown} to a tensor that is no leaf: its `.grad` is None from then on",
        Severity.ERROR,
        story,
        True,
        (),
        lambda: of_updates(program, statements, None),
        lasts=_still_none(program, reader),
        untrains=_untrains(s.value for s in statements if isinstance(s, ast.Assign)),
    )


def _untrains(updates: Iterable[ast.AST]) -> Callable[[Run, Run], bool]:
    """What tells whether some updates, cut off, leave untrained what they begin with or depend on."""
    from autodetach.machine.untrained_starts import untrains_starts

    parts = (part for update in updates for part in ast.walk(update) if isinstance(part, (ast.BinOp, ast.Call)))
    return partial(untrains_starts, frozenset(map(spelled, parts)))


def _still_none(program: Program, reader: ast.AST) -> Callable[[Program], bool]:
    """What tells whether an edited program still reads `.grad` that is None, at the same place, or of a new leaf."""
    spot = program.spot(reader)
    unreached = {program.spot(other) for other in computed_with_none(program)}

    def lasts(edited: Program) -> bool:
        return any(edited.spot(other) == spot for _, other in reads_of_none(edited)) or any(
            edited.spot(other) not in unreached for other in computed_with_none(edited)
        )

    return lasts


def _own(program: Program, updates: list[OwnUpdate]) -> Suspect:
    from autodetach.candidates.new_leaves import of_own_updates

    made, reader = updates[0]
    names = ", ".join(dict.fromkeys(f"`{text(one.reader.value)}`" for one in updates))
    story = (
        StoryStep(line(made), "makes a tensor that is the result of an operation: it is no leaf any more"),
        StoryStep(line(reader), f"next pass: `{text(reader)}` is None"),
    )
    return Suspect(
        ("AD303", *program.spot(reader)),
        made,
        f"the update makes of {names} a tensor that is no leaf: its `.grad` is None from then on",
        Severity.ERROR,
        story,
        True,
        (),
        lambda: of_own_updates(program, updates),
        lasts=_still_none(program, reader),
        untrains=_untrains(one.made for one in updates),
    )


def _entries(program: Program) -> Iterator[list[EntryUpdate]]:
    """The updates of entries, by their loops."""
    loops: dict[ast.For, dict[ast.Assign, EntryUpdate]] = {}
    for one in entry_updates(program):
        loops.setdefault(one.loop, {}).setdefault(one.statement, one)
    yield from (list(updates.values()) for updates in loops.values())


def _of_entries(program: Program, updates: list[EntryUpdate]) -> Suspect:
    from autodetach.candidates.entries_in_place import of_entries

    usual = _suspect(program, [one.statement for one in updates], updates[0].reader)
    return replace(usual, candidates=lambda: of_entries(program, updates))


def _change(statement: ast.stmt) -> ast.AST:
    """`lr * w.grad` of `w = w - lr * w.grad`: that stays where it is, whatever becomes of the statement."""
    assert isinstance(statement, ast.Assign)
    value = statement.value.elt if isinstance(statement.value, ast.ListComp) else statement.value
    return value.right if isinstance(value, ast.BinOp) else value


def _growing(program: Program, growth: Growth, statements: list[ast.stmt]) -> Suspect:
    from autodetach.candidates.in_place_updates import names_of, of_updates

    names = names_of(statements)
    shown = ", ".join(f"`{n}`" for n in names)
    story = (
        StoryStep(
            line(statements[0]), f"binds `{names[0]}` to the result of an operation on the one before, with its graph"
        ),
        StoryStep(line(statements[0]), "every pass adds a node: the graph of all passes is kept"),
    )
    return Suspect(
        ("AD303", *program.spot(_change(statements[0]))),
        statements[0],
        f"the update rebinds {shown} to a tensor that is no leaf, and keeps the graph of all passes",
        Severity.WARNING,
        story,
        growth.certain,
        (),
        lambda: of_updates(program, statements, "a program that runs today is changed"),
        observed=observed_of(program, (growth.node,)),
    )


def _on_tape(program: Program) -> Iterator[list[Node]]:
    """The updates that stay in the graph of every later loss, by the blocks in which they stand."""
    blocks: dict[int, list[Node]] = {}
    for node in updates_on_tape(program.runs):
        statement = program.statement(node.site.node)
        if isinstance(statement, ast.Assign) and isinstance(node.site.node, (ast.BinOp, ast.Call)):
            blocks.setdefault(id(program.block(statement)), []).append(node)
    yield from blocks.values()


def _walked(program: Program, updates: list[Node]) -> Suspect:
    from autodetach.candidates.new_leaves import as_leaf

    places = [node.site.node for node in updates if isinstance(node.site.node, ast.expr)]
    names = [f"`{text(_updated(program, place))}`" for place in places]
    story = (
        StoryStep(line(places[0]), f"updates {names[0]} by its own gradient, with the graph of all updates before"),
        StoryStep(line(places[0]), "every backward walks all of them: each pass is slower than the last"),
    )
    leaves = tuple(as_leaf(p) for p in places)
    return Suspect(
        ("AD303", *program.spot(places[0])),
        places[0],
        f"the update makes of {', '.join(names)} a tensor that is no leaf, and keeps the graph of all passes",
        Severity.WARNING,
        story,
        True,
        (),
        lambda: iter([Candidate("make new leaves", leaves, "a program that runs today is changed")]),
        observed=observed_of(program, updates),
    )


def _updated(program: Program, update: ast.expr) -> ast.AST:
    """What is rebound: the first operand, `w` of `w - lr * w.grad`; of a call, what its result is assigned to."""
    statement = program.statement(update)
    if isinstance(update, ast.BinOp):
        return update.left
    return statement.targets[0] if isinstance(statement, ast.Assign) else update


RULE = rule(__doc__, "AD303", "rebound-leaf", find)
