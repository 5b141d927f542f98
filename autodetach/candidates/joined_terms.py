"""A sum over several passes, differentiated every few of them, while each pass steps: its terms join the losses."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.sums_anew import adds, zero
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation
from autodetach.machine.spelling import last_word, spelled
from autodetach.node_types import LOOPS
from autodetach.suspect import Candidate
from autodetach.view.assigned import given_to
from autodetach.view.program import Program, call_of, text

JOINED = "each pass then steps by its own term at once, not every few passes by the sum of several"
OF_A_STEP = frozenset({"zero_grad", "step", "backward"})


def joined_terms(program: Program, d: Differentiation) -> Iterator[Candidate]:
    """`(loss + term).backward()` in every pass, in place of `total += term` and of a block that differentiates that."""
    from autodetach.codemods.replace_statement import ReplaceStatement

    behind = program.statement(d.call)
    guard = program.parents.get(behind) if behind is not None else None
    loop = program.parents.get(guard) if guard is not None else None
    if not isinstance(guard, ast.If) or guard.orelse or not isinstance(loop, LOOPS) or guard not in loop.body:
        return
    root = _scaled(d.root_expression)
    if root is None or behind is None or call_of(behind) is not d.call or d.call.args or d.call.keywords:
        return
    total, factor, operator = root
    mentions = [n for n in walk(program.scope(loop)) if isinstance(n, ast.Name) and n.id == total]
    summed = [s for s in loop.body if adds(s) and any(n in mentions for n in ast.walk(s))]
    begins = [n for n in mentions if loop not in program.enclosing(n)]
    first = program.statement(begins[0]) if len(begins) == 1 else None
    if len(summed) != 1 or first is None or zero(given_to(begins[0], first), total) is None:
        return
    (adding,) = summed
    within = {n for statement in (adding, guard) for n in ast.walk(statement)} | {*begins}
    if not within.issuperset(mentions) or not all(_is_of_step(s, total) for s in guard.body):
        return
    term = term_added(adding, total)
    if term is None:
        return
    for statement in loop.body[loop.body.index(adding) + 1 :]:
        loss = _differentiated_alone(statement)
        if loss is None:
            continue
        shown = "({1})" if isinstance(term, (ast.BinOp, ast.UnaryOp)) and factor is not None else "{1}"
        scaled, parts = (shown, (loss, term)) if factor is None else (f"{shown} {operator} {{2}}", (loss, term, factor))
        edits = (
            ReplaceStatement(first, ""),
            ReplaceStatement(adding, ""),
            ReplaceStatement(guard, ""),
            ReplaceStatement(statement, f"({{0}} + {scaled}).backward()", parts),
        )
        message = f"add `{text(term)}` to `{text(loss)}` of the same pass"
        yield Candidate(message, edits, JOINED, gathers=True, last_resort=True)
        return


def _differentiated_alone(statement: ast.stmt) -> ast.expr | None:
    """`loss` of the statement `loss.backward()`; a function may have that name, too."""
    call = call_of(statement)
    if call is None or call.args or call.keywords or not isinstance(call.func, ast.Attribute):
        return None
    return call.func.value if call.func.attr == "backward" else None


def _scaled(root: ast.expr | None) -> tuple[str, ast.expr | None, str] | None:
    """The name of what is differentiated, and by what it is scaled: `total`, `total / steps`."""
    if isinstance(root, ast.Name):
        return root.id, None, ""
    if not isinstance(root, ast.BinOp) or not isinstance(root.op, (ast.Div, ast.Mult)):
        return None
    if not isinstance(root.left, ast.Name) or not isinstance(root.right, (ast.Name, ast.Attribute, ast.Constant)):
        return None
    return root.left.id, root.right, "/" if isinstance(root.op, ast.Div) else "*"


def term_added(adding: ast.stmt, total: str) -> ast.expr | None:
    """What `total += term` and `total = total + term` add."""
    if isinstance(adding, ast.AugAssign):
        return adding.value
    value = adding.value if isinstance(adding, ast.Assign) else None
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Add):
        for one, other in ((value.left, value.right), (value.right, value.left)):
            if isinstance(one, ast.Name) and one.id == total:
                return other
    return None


def _is_of_step(statement: ast.stmt, total: str) -> bool:
    """Whether a statement is part of a parameter step, or sets the sum back."""
    call = call_of(statement)
    if call is not None:
        return last_word(call.func) in OF_A_STEP
    if not isinstance(statement, ast.Assign) or [spelled(t) for t in statement.targets] != [total]:
        return False
    return zero(statement.value, total) is not None
