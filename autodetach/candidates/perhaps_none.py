"""Which parts of a record may be None, or a number, on a path that was not run: such a part has no `detach()`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import chain

from autodetach.machine.children import targets_of, walk
from autodetach.machine.classes import linear_order
from autodetach.machine.program_values import Class, Instance
from autodetach.machine.spelling import is_none, last_word, spelled
from autodetach.machine.values import Value
from autodetach.node_types import FUNCTIONS
from autodetach.view.program import Program

CHOOSING = (ast.IfExp, ast.BoolOp)
ASKING = frozenset({"get", "getattr"})


def is_perhaps_none(program: Program, expression: ast.expr) -> bool:
    """`aux if self.use_aux else None`, `terms.get("aux")`, or a name or attribute that some assignment sets so."""
    if isinstance(expression, ast.Name):
        scope = program.scope(expression)
        return expression.id in _left_out(scope) or any(map(_chooses, _set_as(scope, expression)))
    if isinstance(expression, ast.Attribute):
        return any(map(_chooses, _set_as(program.file_of(expression), expression)))
    return _chooses(expression)


def is_optional(value: Value, name: str) -> bool:
    """Whether a field is declared `aux: Tensor | None`, or is None by default."""
    if not isinstance(value, Instance) or not isinstance(value.cls, Class):
        return False
    bodies = (cls.node.body for cls in linear_order(value.cls) if isinstance(cls, Class))
    for statement in chain.from_iterable(bodies):
        if isinstance(statement, ast.AnnAssign) and getattr(statement.target, "id", "") == name:
            said = ast.unparse(statement.annotation)
            is_default = statement.value is not None and is_none(statement.value)
            return is_default or "None" in said or "Optional" in said
    return False


def _chooses(expression: ast.expr) -> bool:
    if isinstance(expression, ast.Call):
        return last_word(expression.func) in ASKING
    return isinstance(expression, (*CHOOSING, ast.Constant))


def _set_as(scope: ast.AST, target: ast.Name | ast.Attribute) -> Iterator[ast.expr]:
    """What is assigned in a function or file to a name, or to an attribute of that name."""
    for node in walk(scope):
        if not isinstance(node, (ast.Assign, ast.AnnAssign)) or node.value is None:
            continue
        for one in targets_of(node):
            pairs = [(one, node.value)]
            if isinstance(one, (ast.Tuple, ast.List)) and isinstance(node.value, (ast.Tuple, ast.List)):
                pairs = list(zip(one.elts, node.value.elts, strict=False))
            yield from (given for at, given in pairs if _is_alike(at, target))


def _is_alike(one: ast.expr, other: ast.Name | ast.Attribute) -> bool:
    if isinstance(other, ast.Attribute):
        return isinstance(one, ast.Attribute) and one.attr == other.attr
    return spelled(one) == other.id


def _left_out(scope: ast.AST) -> frozenset[str]:
    """The parameters of a function that are a constant by default."""
    if not isinstance(scope, FUNCTIONS):
        return frozenset()
    spec = scope.args
    by_position = zip([*spec.posonlyargs, *spec.args][::-1], spec.defaults[::-1], strict=False)
    pairs = (*by_position, *zip(spec.kwonlyargs, spec.kw_defaults, strict=True))
    return frozenset(a.arg for a, default in pairs if isinstance(default, ast.Constant))
