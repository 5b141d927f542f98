"""A trained tensor is rebound by its own update and is no leaf any more.

## What it does
Reports `w = w - lr * w.grad` and its kin in a loop: the new `w` is the result of an operation, so that its `.grad` is
None, or it does not require grad at all.

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
being changed in place; also where the update may have another shape or type than `w`, which would keep its own.

## When it stays silent
When the update is in place, goes through `.data`, makes a new leaf, or is part of an unrolled inner loop
(`create_graph=True`, or a loss behind it that trains what it began with).

## References
- https://docs.pytorch.org/tutorials/beginner/pytorch_with_examples.html
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autodetach.finding import Severity, StoryStep
from autodetach.machine.events import NonLeafGrad
from autodetach.machine.graph import Node
from autodetach.machine.growth import Growth
from autodetach.machine.spelling import spelled
from autodetach.machine.updates_on_tape import updates_on_tape
from autodetach.node_types import LOOPS
from autodetach.suspect import Candidate, Suspect, rule
from autodetach.view.alike import is_alike
from autodetach.view.kept import are_elements_kept, is_kept
from autodetach.view.program import Program, is_update, line, observed_of, text

KEPT = "something else holds the tensor as it was, and would see the update"
OTHERWISE = (
    "the update may have another shape or type than the tensor, which keeps its own where it is changed in place"
)


def find(program: Program) -> Iterator[Suspect]:
    seen: set[object] = set()
    reads = list(_reads(program))
    tensors = _Tensors({owner for owner, _ in reads}, _growing_updates(program))
    for owner, reader in reads:
        statements = _updates(program, owner, reader, tensors)
        if statements and statements[0] not in seen:
            seen.update(statements)
            yield _suspect(program, statements, reader)
    for statement, growth in tensors.growing.items():
        if statement not in seen:
            group = tensors.group(program, statement)
            seen.update(group)
            yield _growing(program, growth, group)
    for updates in _on_tape(program):
        if program.statement(updates[0].site.node) not in seen:
            yield _walked(program, updates)


def _growing_updates(program: Program) -> dict[ast.Assign, Growth]:
    """The updates that keep the graph of all passes, each with the first growth that shows it."""
    found: dict[ast.Assign, Growth] = {}
    for growth in program.growths:
        if growth.kind == "chain" and growth.linear and not growth.elements:
            statement = program.statement(growth.node.site.node)
            if statement is not None and is_update(statement):
                found.setdefault(statement, growth)
    return found


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
        return statement in self.growing or name in self.owners or _reads_grad(statement.value, name)


def _reads(program: Program) -> Iterator[tuple[str, ast.AST]]:
    """Reads of `.grad` that gave None, on tensors that an operation of the program made."""
    for run in program.runs:
        for fact in run.machine.facts:
            if isinstance(fact, NonLeafGrad) and isinstance(fact.site.node, ast.Attribute):
                yield spelled(fact.site.node.value), fact.site.node


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
    for node in ast.walk(scope):
        if is_update(node) and spelled(node.targets[0]) == owner and _may_run_again(program, node):
            return tensors.group(program, node)
    return []


def _may_run_again(program: Program, node: ast.AST) -> bool:
    """Whether a statement stands in a loop, or in a function, which a loop may call."""
    return any(
        isinstance(at, (ast.For, ast.AsyncFor, ast.While, ast.FunctionDef, ast.AsyncFunctionDef))
        for at in program.enclosing(node)
    )


def _names(statements: list[ast.stmt]) -> list[str]:
    return [spelled(s.targets[0]) for s in statements if isinstance(s, ast.Assign)]


def _suspect(program: Program, statements: list[ast.stmt], reader: ast.AST) -> Suspect:
    names = _names(statements)
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
        lambda: _candidates(program, statements, None),
    )


def _change(statement: ast.stmt) -> ast.AST:
    """`lr * w.grad` of `w = w - lr * w.grad`: that stays where it is, whatever becomes of the statement."""
    assert isinstance(statement, ast.Assign)
    value = statement.value.elt if isinstance(statement.value, ast.ListComp) else statement.value
    return value.right if isinstance(value, ast.BinOp) else value


def _growing(program: Program, growth: Growth, statements: list[ast.stmt]) -> Suspect:
    names = _names(statements)
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
        lambda: _candidates(program, statements, "a program that runs today is changed"),
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
    from autodetach.codemods.replace_expression import ReplaceExpression

    places = [node.site.node for node in updates if isinstance(node.site.node, ast.expr)]
    names = [f"`{text(_updated(program, place))}`" for place in places]
    story = (
        StoryStep(line(places[0]), f"updates {names[0]} by its own gradient, with the graph of all updates before"),
        StoryStep(line(places[0]), "every backward walks all of them: each pass is slower than the last"),
    )
    leaves = tuple(
        ReplaceExpression(p, f"{'{}' if isinstance(p, ast.Call) else '({})'}.detach().requires_grad_()") for p in places
    )
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


def _candidates(program: Program, statements: list[ast.stmt], doubt: str | None) -> Iterator[Candidate]:
    from autodetach.codemods.insert_statement import InsertStatement
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.update_in_place import UpdateInPlace

    first = statements[0]
    assert isinstance(first, ast.Assign)
    if isinstance(first.value, ast.ListComp):
        if program.names_read(first):
            yield Candidate(
                "make new leaves", (ReplaceExpression(first.value.elt, "({}).detach().requires_grad_()"),), doubt
            )
        return
    assigns = tuple(s for s in statements if isinstance(s, ast.Assign))
    names = _names(statements)
    forget = tuple(n for n in names if not _forgotten(program, first, n) and _reads_grad(program.scope(first), n))
    shown = ", ".join(f"`{n}`" for n in names)
    kept = any(_is_held(program, s) for s in assigns)
    if kept or not is_alike(program, assigns):
        leaves = tuple(ReplaceExpression(s.value, "({}).detach().requires_grad_()") for s in assigns)
        if not any(_is_zeroed(program, first, n) for n in names):
            yield Candidate(f"make {shown} a new leaf", leaves, doubt)
        doubt = doubt or (KEPT if kept else OTHERWISE)
    guard = next((at for at in program.enclosing(first) if isinstance(at, ast.With) and _is_no_grad(at)), None)
    if guard is not None:
        extra = (InsertStatement(guard, "\n".join(f"{n}.grad = None" for n in forget)),) if forget else ()
        yield Candidate(f"update {shown} in place", (UpdateInPlace(assigns, wrap=False), *extra), doubt)
    elif program.imports_torch(first):
        yield Candidate(
            f"update {shown} in place, under `torch.no_grad()`",
            (UpdateInPlace(assigns, True, forget, _among(program, assigns)),),
            doubt,
        )


def _is_held(program: Program, update: ast.Assign) -> bool:
    """Whether anything else may hold what is updated; an element of a container, as another copy of that does."""
    target = update.targets[0]
    if isinstance(target, ast.Subscript):
        return are_elements_kept(program, update, target.value)
    return is_kept(program, update, spelled(target))


def _among(program: Program, updates: tuple[ast.Assign, ...]) -> tuple[ast.stmt, ...]:
    """The statements from the first update to the last."""
    block = program.block(updates[0])
    return tuple(block[block.index(updates[0]) : block.index(updates[-1]) + 1])


def _is_no_grad(node: ast.With) -> bool:
    return any(
        "no_grad" in spelled(i.context_expr) or "set_grad_enabled" in spelled(i.context_expr) for i in node.items
    )


def _reads_grad(around: ast.AST, name: str) -> bool:
    return any(isinstance(n, ast.Attribute) and n.attr == "grad" and spelled(n.value) == name for n in ast.walk(around))


def _forgotten(program: Program, statement: ast.stmt, name: str) -> bool:
    """Whether the program zeroes the gradient itself, in the same loop."""
    scope = program.scope(statement)
    loops = (at for at in program.enclosing(statement) if isinstance(at, LOOPS) and program.scope(at) is scope)
    *_, around = (scope, *loops)
    return any(_zeroing(around, name)) or any(
        isinstance(node, ast.Assign) and any(spelled(t) == f"{name}.grad" for t in node.targets)
        for node in ast.walk(around)
    )


def _is_zeroed(program: Program, statement: ast.stmt, name: str) -> bool:
    """Whether the program zeroes the gradient without asking if there is any: a new leaf has none."""
    return any(
        not any(isinstance(at, ast.If) for at in program.enclosing(call))
        for call in _zeroing(program.scope(statement), name)
    )


def _zeroing(around: ast.AST, name: str) -> Iterator[ast.Call]:
    for node in ast.walk(around):
        if isinstance(node, ast.Call) and spelled(node.func) in (f"{name}.grad.zero_", f"{name}.grad.data.zero_"):
            yield node


RULE = rule(__doc__, "AD303", "rebound-leaf", find)
