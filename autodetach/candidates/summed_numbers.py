"""Numbers that were read from tensors, and go nowhere but into the tensor that is differentiated, and into texts.

They can be the tensors themselves: what else reads them may want numbers.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.machine.children import walk
from autodetach.machine.spelling import called_name
from autodetach.view.program import Program, call_of

ALIKE = frozenset({"print", "format", "str", "len", "sum"})
"""What does with a tensor of one element, or a list of some, what it does with numbers."""
OF_TENSORS = frozenset({"backward", "detach", "item"})
"""What no number has: it is asked of what was taken for a tensor already."""


def only_summed(program: Program, number: ast.Call, copies: Collection[ast.AST], *, shown: bool) -> bool:
    """Whether what a call reads from a tensor is only added up, listed, shown, and copied into tensors.

    `shown`: no dimension is known of it, so that a format for numbers is one for the tensor.
    """
    names: list[str] = []
    if not _goes_on(program, number, copies, names, shown):
        return False
    reads: dict[str, list[ast.Name]] = {}
    changed: set[str] = set()
    for node in walk(program.scope(number)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            reads.setdefault(node.id, []).append(node)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            changed.add(node.target.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            return False
    found: list[ast.expr] = [number]
    for name in names:  # which grows meanwhile
        found += reads.get(name, ())
        if not all(_goes_on(program, read, copies, names, shown) for read in reads.get(name, ())):
            return False
    # A tensor that has two names is changed under both where something is added to it.
    same = (program.parents.get(value) for value in found)
    return not any(isinstance(s, ast.Assign) and changed.intersection(_bound_by(s)) for s in same)


def _goes_on(
    program: Program, value: ast.expr, copies: Collection[ast.AST], names: list[str], shown: bool
) -> bool:
    """Whether a value is used in such a way only; the names that it has then are added."""
    inner: ast.AST = value
    for node in program.enclosing(value):
        if node in copies or isinstance(node, (ast.JoinedStr, ast.Compare)):
            return True
        if isinstance(node, ast.FormattedValue):
            return shown or node.format_spec is None
        if isinstance(node, ast.Call):
            if inner is node.func:
                return False
            if called_name(node) == "append":
                break
            if called_name(node) not in ALIKE:
                return False
            if called_name(node) != "sum":
                return True
        elif isinstance(node, ast.Attribute):
            return node.attr == "append" or node.attr in OF_TENSORS
        elif isinstance(node, ast.stmt):
            break
        elif not isinstance(node, (ast.BinOp, ast.UnaryOp, ast.ListComp, ast.GeneratorExp, ast.comprehension)):
            return False
        inner = node
    statement = program.statement(value)
    bound = list(_bound_by(statement)) if statement is not None else []
    names += (name for name in bound if name not in names)
    return bool(bound)


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    """The one name that a statement binds, or adds to."""
    target: ast.expr | None = None
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
    elif isinstance(statement, (ast.AugAssign, ast.AnnAssign)):
        target = statement.target
    elif (call := call_of(statement)) is not None and isinstance(call.func, ast.Attribute):
        target = call.func.value
    if isinstance(target, ast.Name):
        yield target.id
