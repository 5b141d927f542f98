"""A sum that an object begins in its constructor, and a method adds up in one call a pass, begins anew in each call.

`y, self.cost = layer(y, self.cost)` in `forward`, for each layer: what the next call goes on with is the sum of all
calls before it, in the value as in the graph.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.candidates.begun_sum import is_nothing
from autodetach.candidates.mentioned import is_named_otherwise, mentions
from autodetach.candidates.sums_anew import ANEW
from autodetach.machine.activations import within
from autodetach.machine.children import targets_of
from autodetach.machine.events import SecondWalk
from autodetach.machine.graph import Differentiation, Node, trail_of
from autodetach.machine.program_values import Class, Frame, Instance
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.crossings import Crossed, operands_from
from autodetach.view.program import Program


def walked_before(event: SecondWalk) -> list[Crossed]:
    """Where the second of two differentiations enters what was made before the first one."""
    first = event.first.number
    return [
        (node, operand, parent)
        for node in event.second.walked
        for parent in node.parents
        if parent.number < first < node.number and not (parent.leaf or parent.weak)
        for operand in operands_from(node, parent)
    ]


def summed_in_call(program: Program, d: Differentiation, crossed: Sequence[Crossed]) -> Iterator[Candidate]:
    """Write the constructor's zero once more where the method begins that adds to it, if a pass calls that once."""
    from autodetach.codemods.insert_statement import InsertStatement

    sums = {found for reader, _, maker in crossed for found in (_sum_of(reader), _sum_of(maker))}
    if len(sums) != 1 or None in sums:
        return
    (found,) = sums
    assert found is not None
    method, cls, name = found
    frames = {_frame_of(n, method) for n in d.walked if within(n.loops, d.loops)} - {None}
    begin = _begin(program, cls, method, name)
    anchor = _first_mention(method, name)
    if len(frames) != 1 or begin is None or anchor is None:
        return
    new = f"{method.args.args[0].arg}.{name} = {begin}"
    yield Candidate(f"begin anew: `{new}` in each `{method.name}`", (InsertStatement(anchor, new, "before"),), ANEW)


Sum = tuple[ast.FunctionDef, ast.ClassDef, str]
"""A method, the class of its object, and the attribute to which it adds."""


def _sum_of(node: Node) -> Sum | None:
    """The attribute that the innermost method goes on with, among those that were running when a node was added up."""
    place = node.site.node
    if not isinstance(place, (ast.BinOp, ast.AugAssign)) or not isinstance(place.op, ast.Add):
        return None
    for statement, frame in reversed(trail_of(node)):
        method = frame.function.node if isinstance(frame, Frame) and frame.function is not None else None
        if not isinstance(method, ast.FunctionDef) or not method.args.args:
            continue
        this = frame.names.get(method.args.args[0].arg) if isinstance(frame, Frame) else None
        if not isinstance(this, Instance) or not isinstance(this.cls, Class):
            continue
        names = _gone_on_with(statement, method.args.args[0].arg) or _gone_on_with(method, method.args.args[0].arg)
        if len(names) == 1:
            return method, this.cls.node, names.pop()
    return None


def _gone_on_with(inside: ast.AST, this: str) -> set[str]:
    """The attributes of an object that are read in a statement or function, and bound there as well."""
    own = [n for n in ast.walk(inside) if isinstance(n, ast.Attribute) and spelled(n.value) == this]
    bound = {n.attr for n in own if isinstance(n.ctx, ast.Store)}
    added = {s.target.attr for s in ast.walk(inside) if isinstance(s, ast.AugAssign) and s.target in own}
    return bound & ({n.attr for n in own if isinstance(n.ctx, ast.Load)} | added)


def _frame_of(node: Node, method: ast.FunctionDef) -> Frame | None:
    frames = (f for _, f in trail_of(node) if isinstance(f, Frame) and f.function is not None)
    return next((f for f in frames if f.function is not None and f.function.node is method), None)


def _begin(program: Program, cls: ast.ClassDef, method: ast.FunctionDef, name: str) -> str | None:
    """The zero that a constructor gives an attribute, if but for that only the method binds it."""
    if is_named_otherwise(program, cls, name):
        return None
    begins: set[str] = set()
    for mention in mentions(program, cls, name):
        if isinstance(mention.ctx, ast.Load) or program.scope(mention) is method:
            continue
        home, statement = program.scope(mention), program.statement(mention)
        if not isinstance(home, ast.FunctionDef) or home.name != "__init__" or cls not in program.enclosing(home):
            return None
        if not isinstance(statement, ast.Assign) or targets_of(statement) != [mention]:
            return None
        local = {name for scope in (home, method) for name in (*_arguments(scope), *program.names_bound(scope))}
        if not is_nothing(statement.value) or not local.isdisjoint(program.names_read(statement.value)):
            return None
        if program.file_of(home) is not program.file_of(method):
            return None  # names may mean something else there
        begins.add(spelled(statement.value))
    return begins.pop() if len(begins) == 1 else None


def _arguments(function: ast.FunctionDef) -> Iterator[str]:
    return (a.arg for a in ast.walk(function.args) if isinstance(a, ast.arg))


def _first_mention(method: ast.FunctionDef, name: str) -> ast.stmt | None:
    """The first statement of a method that speaks of an attribute."""
    spoken = (s for s in method.body if any(isinstance(n, ast.Attribute) and n.attr == name for n in ast.walk(s)))
    return next(spoken, None)
