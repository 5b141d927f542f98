"""A running sum that is differentiated in every pass: the term of the pass is what it can train on."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.candidates.detaching import has_graph, methods
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Value
from autodetach.node_types import ENDING_A_PASS
from autodetach.suspect import Candidate
from autodetach.view.crossings import Crossed
from autodetach.view.program import Program, line, text

DOUBT = "each pass is trained on its own loss only, which the author may not have meant"


def own_terms(program: Program, d: Differentiation, crossed: Iterable[Crossed]) -> Iterator[Candidate]:
    """Differentiate `loss` in place of a `total` to which it was added, and add up numbers."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.replace_statement import ReplaceStatement

    for reader, operand, _ in crossed:
        found = added(reader, operand)
        if found is None:
            continue
        total, term = found
        statement, differentiating = program.statement(reader.site.node), program.statement(d.call)
        if statement is None or differentiating is None or not _in_step(program, statement, differentiating):
            continue
        variables = [e for e in ast.walk(d.call) if isinstance(e, (ast.Name, ast.Attribute))]
        roots = [e for e in variables if spelled(e) == spelled(total)]
        if len(roots) != 1:
            continue
        if not isinstance(term, (ast.Name, ast.Attribute)):
            name = f"{spelled(total).rpartition('.')[2]}_term"
            if not _is_sum_alone(statement, reader, total) or name in _names(program.file_of(statement)):
                continue
            sign = "+=" if isinstance(statement, ast.AugAssign) else f"= {spelled(total)} +"
            for method in methods(program):
                new = f"{name} = {{0}}\n{spelled(total)} {sign} {name}.{method}()"
                codemods = (ReplaceStatement(statement, new, (term,)), ReplaceExpression(roots[0], name))
                message = f"differentiate what is added to `{text(total)}`, and add up its `.{method}()`"
                yield Candidate(message, codemods, DOUBT, method)
            continue
        root = ReplaceExpression(roots[0], spelled(term))
        for method in methods(program):
            message = f"differentiate `{text(term)}`, and add up `{text(term)}.{method}()`"
            yield Candidate(message, (root, AppendMethod(term, method)), DOUBT, method)


def _in_step(program: Program, statement: ast.stmt, differentiating: ast.stmt) -> bool:
    """Whether one is always followed by the other in a pass: no branch and no loop has only one of them."""
    first, second = _standing(program, statement), _standing(program, differentiating)
    block = program.block(first)
    if second not in block or line(statement) >= line(differentiating):
        return False
    over = block[block.index(first) : block.index(second)]
    return not any(isinstance(n, ENDING_A_PASS) for s in over for n in ast.walk(s))


def _standing(program: Program, statement: ast.stmt) -> ast.stmt:
    """The statement, or the `with` around it."""
    while isinstance(around := program.parents.get(statement), (ast.With, ast.AsyncWith)):
        statement = around
    return statement


def _is_sum_alone(statement: ast.stmt, reader: Node, total: ast.expr) -> bool:
    """Whether a statement is nothing but the sum, so that what is added can be given a name before it."""
    if isinstance(statement, ast.Assign):
        return statement.value is reader.site.node and [spelled(t) for t in statement.targets] == [spelled(total)]
    return statement is reader.site.node


def _names(tree: ast.Module) -> set[str]:
    return {n.id for n in walk(tree) if isinstance(n, ast.Name)} | {
        n.arg for n in walk(tree) if isinstance(n, ast.arg)
    }


def added(reader: Node, operand: Value) -> tuple[ast.expr, ast.expr] | None:
    """The expressions of an old sum, which is a variable, and of what is added to it, if that is what a node does."""
    node = reader.site.node
    is_sum = isinstance(node, (ast.AugAssign, ast.BinOp)) and isinstance(node.op, ast.Add)
    if not is_sum or len(reader.site.operands) != 2:
        return None
    for (total, old), (term, new) in (reader.site.operands, reader.site.operands[::-1]):
        if old is operand and isinstance(total, (ast.Name, ast.Attribute)) and has_graph(new):
            return total, term
    return None
