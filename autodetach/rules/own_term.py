"""A running sum that is differentiated in every pass: the term of the pass is what it can train on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Value
from autodetach.rules.detaching import has_graph, methods
from autodetach.rules.program import Program, text
from autodetach.rules.reads import Crossed
from autodetach.rules.suspect import Candidate

DOUBT = "each pass is trained on its own loss only, which the author may not have meant"


def own_terms(program: Program, d: Differentiation, crossed: Iterable[Crossed]) -> Iterator[Candidate]:
    """Differentiate `loss` in place of a `total` to which it was added, and add up numbers."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression

    for reader, operand, _ in crossed:
        found = _added(reader, operand)
        if found is None:
            continue
        total, term = found
        variables = [e for e in ast.walk(d.call) if isinstance(e, (ast.Name, ast.Attribute))]
        roots = [e for e in variables if spelled(e) == spelled(total)]
        if len(roots) != 1:
            continue
        root = ReplaceExpression(roots[0], spelled(term))
        for method in methods(program):
            message = f"differentiate `{text(term)}`, and add up `{text(term)}.{method}()`"
            yield Candidate(message, (root, AppendMethod(term, method)), DOUBT, method)


def _added(reader: Node, operand: Value) -> tuple[ast.expr, ast.expr] | None:
    """The expressions of an old sum and of what is added to it, if that is a variable."""
    node = reader.site.node
    is_sum = isinstance(node, (ast.AugAssign, ast.BinOp)) and isinstance(node.op, ast.Add)
    if not is_sum or len(reader.site.operands) != 2:
        return None
    for (total, old), (term, new) in (reader.site.operands, reader.site.operands[::-1]):
        is_variable = isinstance(term, (ast.Name, ast.Attribute)) and isinstance(total, (ast.Name, ast.Attribute))
        if old is operand and is_variable and has_graph(new):
            return total, term
    return None
