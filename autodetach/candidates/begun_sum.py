"""A sum of several losses that goes on from pass to pass, or behind its backward call, begins anew."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.candidates.own_term import added
from autodetach.candidates.reads import Repair
from autodetach.machine.activations import Activation
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.spelling import spelled
from autodetach.node_types import LOOPS
from autodetach.view.assigned import assigned
from autodetach.view.crossings import Crossed, operands_from
from autodetach.view.program import Block, Program, line, text

EMPTY_TENSORS = frozenset({"zeros", "zeros_like", "new_zeros"})


def begun_in_pass(
    program: Program, d: Differentiation, activation: Activation, crossed: Sequence[Crossed]
) -> Iterator[Repair]:
    """Write `total = 0` in the loop where it stands before it, if each pass adds up several terms.

    A sum of one term a pass is rather a running total: see `candidates.own_term`.
    """
    loop = activation.node
    if not isinstance(loop, LOOPS):
        return
    found = _goes_on(program, d, loop.body, crossed)
    if found is None:
        return
    name, anchor = found
    before = loop.body[: loop.body.index(anchor)]
    is_noted = any(name in program.names_read(s) | program.names_bound(s) for s in before)
    if not is_noted and not _is_averaged(program, name, loop):
        yield from _begun(program, name, anchor, line(loop))


def begun_behind(program: Program, first: Differentiation, d: Differentiation) -> Iterator[Repair]:
    """Write `total = 0` once more where a sum goes on that was differentiated before in the same pass."""
    statement = program.statement(d.call)
    crossed = [
        (node, operand, parent)
        for node in d.walked
        for parent in node.parents
        if parent in first.roots
        for operand in operands_from(node, parent)
    ]
    found = None if statement is None else _goes_on(program, d, program.block(statement), crossed)
    if found is not None:
        yield from _begun(program, *found, line(found[1]))


def _is_averaged(program: Program, name: str, loop: ast.AST) -> bool:
    """Whether what has been added up is divided outside of the loop: then it is meant to last."""
    inside = set(walk(loop))
    quotients = (n for n in walk(program.scope(loop)) if isinstance(n, ast.BinOp) and n not in inside)
    return any(name in program.names_read(n.left) for n in quotients if isinstance(n.op, ast.Div))


def _goes_on(
    program: Program, d: Differentiation, block: Block, crossed: Sequence[Crossed]
) -> tuple[str, ast.stmt] | None:
    """The name to which all that is `crossed` is added, with other terms, and the statement that does so first."""
    sums = [added(reader, operand) for reader, operand, _ in crossed]
    totals = {total.id for total, _ in (s for s in sums if s is not None) if isinstance(total, ast.Name)}
    if len(totals) != 1 or None in sums:
        return None
    (name,) = totals
    first = min((reader for reader, _, _ in crossed), key=lambda n: n.number)
    if sum(n.number >= first.number and _adds_to(n, name) for n in d.walked) < 2:
        return None
    place = program.statement(first.site.node)
    around = [] if place is None else [place, *program.enclosing(place)]
    anchor = next((s for s in around if s in block), None)
    return (name, anchor) if isinstance(anchor, ast.stmt) else None


def _adds_to(node: Node, name: str) -> bool:
    place = node.site.node
    is_sum = isinstance(place, (ast.AugAssign, ast.BinOp)) and isinstance(place.op, ast.Add)
    return is_sum and any(isinstance(e, ast.Name) and e.id == name for e, _ in node.site.operands)


def _begun(program: Program, name: str, anchor: ast.stmt, before: int) -> Iterator[Repair]:
    """The statement that begins the sum, written again in front of `anchor`; it stands above line `before`."""
    from autodetach.codemods.copy_statements import CopyStatements
    from autodetach.codemods.insert_statement import InsertStatement

    scope = program.scope(anchor)
    given = [
        (s, value)
        for s in walk(scope)
        if isinstance(s, ast.Assign) and program.scope(s) is scope
        for target, value in assigned(s)
        if name in program.names_bound(target)
    ]
    beginnings = [(s, value) for s, value in given if is_nothing(value)]
    others = [value for _, value in given if not is_nothing(value) and name not in program.names_read(value)]
    if others or len({spelled(value) for _, value in beginnings}) != 1 or line(beginnings[0][0]) >= before:
        return
    beginning, value = beginnings[0]
    written = f"{name} = {spelled(value)}"
    is_alone = len(beginning.targets) == 1 and isinstance(beginning.targets[0], ast.Name)
    begin = CopyStatements((beginning,), anchor) if is_alone else InsertStatement(anchor, written, "before")
    yield f"begin the sum anew: `{written}` before `{_head(anchor)}`", (begin,)


def is_nothing(value: ast.expr) -> bool:
    """`0`, `0.0`, or a new tensor of zeros."""
    if isinstance(value, ast.Call):
        called = value.func.attr if isinstance(value.func, ast.Attribute) else ""
        is_zero = called == "tensor" and bool(value.args) and is_nothing(value.args[0])
        return called in EMPTY_TENSORS or is_zero
    return isinstance(value, ast.Constant) and not isinstance(value.value, (bool, str)) and value.value == 0


def _head(statement: ast.stmt) -> str:
    """The first line of a statement, as it is shown."""
    return text(statement).partition(":")[0] if isinstance(statement, LOOPS) else text(statement)
