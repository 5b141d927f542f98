"""A leaf that is changed in place where autograd records: the change is none that it should record, or no change."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from autodetach.candidates.out_of_place import SIGNS, term_of
from autodetach.machine.arguments import parameter_names
from autodetach.machine.children import walk
from autodetach.machine.events import LeafChanged
from autodetach.machine.graph import ancestors
from autodetach.machine.spelling import arguments_of, spelled
from autodetach.machine.values import Tensor
from autodetach.node_types import FUNCTIONS
from autodetach.suspect import Candidate
from autodetach.view.kept import is_of
from autodetach.view.program import Program, line, listed, text

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

KEPT = "what is written there gets no gradient, and stays; a new tensor may be what was meant"
SCALED = "its gradient may be what was meant to be scaled, as where gradients are clipped"
NOT_SCALED = "the leaf itself, which is what is written, is not scaled then"
TAKES = ("add_", "sub_", "subtract_", "copy_", "set_")
SCALINGS = ("mul", "multiply", "div", "divide", "true_divide", "detach", "clone")
FILLED = "the tensor is filled and not trained then"


def without_recording(
    program: Program, group: list[ast.stmt], changing: list[ast.stmt], events: Sequence[LeafChanged]
) -> Iterator[Candidate]:
    """Put a group of statements under `no_grad`, of which some are `changing` a leaf as the `events` tell."""
    from autodetach.codemods.under_no_grad import UnderNoGrad

    if not all(isinstance(s, (ast.Expr, ast.Assign, ast.AugAssign)) for s in group):
        return
    yield from _new_tensors(program, changing, events)
    yield from _filled(program, events)
    yield from _scaled_gradient(program, changing, events)
    if not program.imports_torch(group[0]):
        return
    doubt = None if all(_is_sure(program, event) for event in events) else KEPT
    if any(event.factor is not None for event in events):
        doubt = SCALED
    statements = _with_loop(program, group)
    shown = f"`{text(statements[0])}`" if len(statements) == 1 else listed(changing)
    if isinstance(statements[0], ast.For):
        shown = f"the loop over `{text(statements[0].iter)}`"
    yield Candidate(f"put {shown} under `torch.no_grad()`", (UnderNoGrad(tuple(statements)),), doubt)
    if statements != group:
        yield Candidate(f"put {listed(changing)} under `torch.no_grad()`", (UnderNoGrad(tuple(group)),), doubt)


def _is_sure(program: Program, event: LeafChanged) -> bool:
    """Whether a change can only be meant as one of the value: a step down the gradient, or first values."""
    begins = event.unused and not isinstance(program.statement(event.site.node), ast.AugAssign)
    return not event.written and (event.by_gradient or begins)


def _scaled_gradient(
    program: Program, changing: list[ast.stmt], events: Sequence[LeafChanged]
) -> Iterator[Candidate]:
    """`p.mul_(max_norm / p.grad.norm())` -> `p.grad.mul_(...)`: a number made of gradients is meant to clip these."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    if not all(isinstance(e.factor, Tensor) and e.factor.shape == () for e in events):
        return  # of each element its own: a step of another kind
    scaled = [_scaled_by(program, statement) for statement in changing]
    if all(scaled):
        codemods = tuple(ReplaceExpression(leaf, "{}.grad") for leaves in scaled for leaf in leaves)
        yield Candidate(f"scale the gradient, and not the leaf: {listed(changing)}", codemods, NOT_SCALED)


def _scaled_by(program: Program, statement: ast.stmt) -> list[ast.expr]:
    """The leaf in `p.mul_(c)` and `p *= c`, and again where its own values are given: `p.copy_(p.detach() * c)`."""
    match statement:
        case ast.AugAssign(target=(ast.Name() | ast.Attribute()) as leaf):
            is_factor, given = isinstance(statement.op, (ast.Mult, ast.Div)), [statement.value]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=leaf, attr=name)) as call):
            if not isinstance(leaf, (ast.Name, ast.Attribute)) or is_of(program, call, ("torch",)):
                return []
            is_factor, given = name not in TAKES, arguments_of(call)
        case _:
            return []
    own = [read for value in given for read in _own_values(program, value, spelled(leaf))]
    return [leaf, *own] if own or is_factor else []


def _own_values(program: Program, value: ast.expr, leaf: str) -> Iterator[ast.expr]:
    """Where a leaf is read for its values, to be scaled: `p.detach() * (max_norm / p.grad.norm())`."""
    if spelled(value) == leaf:
        yield value
    match value:
        case ast.BinOp(left=left, right=right):
            parts = [left, right]
        case ast.UnaryOp(operand=part) | ast.Attribute(value=part, attr="data"):
            parts = [part]
        case ast.Call(func=ast.Attribute(value=part, attr=name)) if name in SCALINGS:
            parts = arguments_of(value) if is_of(program, value, ("torch",)) else [part]
        case _:
            return
    for part in parts:
        yield from _own_values(program, part, leaf)


def _with_loop(program: Program, group: list[ast.stmt]) -> list[ast.stmt]:
    """The loop around the statements, if it does nothing else: `for p in model.parameters(): p -= lr * p.grad`."""
    loop = program.parents.get(group[0])
    if not isinstance(loop, ast.For) or loop.orelse or program.block(group[0]) is not loop.body:
        return group
    others = [s for s in loop.body if s not in group]
    plain = (ast.Expr, ast.Assign, ast.AugAssign)
    return group if any(not isinstance(s, plain) or program.has_graph(s) for s in others) else [loop]


def _new_tensors(program: Program, changing: list[ast.stmt], events: Sequence[LeafChanged]) -> Iterator[Candidate]:
    """`w *= mask` -> `w = w * mask`, where a local name of the leaf is changed and then computed with."""
    from autodetach.codemods.replace_statement import ReplaceStatement

    codemods: list[Codemod] = []
    for s in changing:
        if not isinstance(s, ast.AugAssign) or type(s.op) not in SIGNS or not _is_local(program, s):
            return
        name = spelled(s.target)
        codemods.append(ReplaceStatement(s, f"{name} = {name} {SIGNS[type(s.op)]} {term_of(s)}", (s.value,)))
    if any(event.by_gradient for event in events):
        return
    message = f"compute a new tensor in place of changing the leaf: {listed(changing)}"
    yield Candidate(message, tuple(codemods), KEPT, adds=True)


def _is_local(program: Program, statement: ast.AugAssign) -> bool:
    """Whether a name is another one for a leaf that a function has got, and is read behind the statement."""
    scope, name = program.scope(statement), spelled(statement.target)
    if not isinstance(scope, FUNCTIONS) or not isinstance(statement.target, ast.Name):
        return False
    is_given = name in parameter_names(scope.args)
    is_other = any(
        isinstance(s, ast.Assign) and isinstance(s.value, ast.Attribute) and [spelled(t) for t in s.targets] == [name]
        for s in walk(scope)
    )
    behind = (n for n in walk(scope) if isinstance(n, ast.Name) and n.id == name and line(n) > line(statement))
    return (is_given or is_other) and any(isinstance(n.ctx, ast.Load) for n in behind)


def _filled(program: Program, events: Sequence[LeafChanged]) -> Iterator[Candidate]:
    """`torch.zeros(n, requires_grad=True)` that takes what a network computes, and is trained by nothing."""
    from autodetach.codemods.set_keyword import SetKeyword

    leaves = {event.leaf for event in events}
    calls = {leaf.site.node for leaf in leaves}
    if not all(isinstance(c, ast.Call) and any(k.arg == "requires_grad" for k in c.keywords) for c in calls):
        return
    trained = {leaf for run in program.runs for s in run.machine.steps for leaf, _ in s.consumed}
    if leaves & trained or not all(any(n.leaf for n in ancestors(event.written)) for event in events):
        return
    codemods = tuple(SetKeyword(c, "requires_grad", None) for c in calls if isinstance(c, ast.Call))
    yield Candidate("make a tensor to be filled, which is no leaf", codemods, FILLED, adds=True)
