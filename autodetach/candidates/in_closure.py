"""A loss that is computed beside the closure of an optimizer, and differentiated in it: it is computed in it, too.

`torch.optim.LBFGS` calls the closure several times in each step. What was computed beside it is often read behind the
step, too, where a name that has moved into the closure would be gone: then the loss is what `step` returns (that of the
first call: https://docs.pytorch.org/docs/stable/generated/torch.optim.LBFGS.html), or all is computed twice.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.spelling import arguments_of
from autodetach.suspect import Candidate
from autodetach.view.program import Program, call_of, line, text


def computed_in_closure(
    program: Program, statements: list[ast.stmt], closure: ast.FunctionDef, anchor: ast.stmt, doubt: str | None
) -> Iterator[Candidate]:
    """Compute before `anchor` in `closure` what `statements` around it bind, and others behind it read."""
    from autodetach.codemods.assign_result import AssignResult
    from autodetach.codemods.copy_statements import CopyStatements
    from autodetach.codemods.move_statements import MoveStatements
    from autodetach.codemods.under_no_grad import UnderNoGrad

    home = program.scope(closure)
    bound = {name for s in statements for name in program.names_bound(s)}
    if any(program.scope(s) is not home for s in statements) or _is_bound_otherwise(program, statements, bound):
        return
    read = _read_outside(program, statements, closure, bound)
    shown = ", ".join(f"`{name}`" for name in _in_order(statements, bound))
    step, loss = _stepping(program, closure), _returned(closure)
    if step is not None and loss is not None and read and all(n.id == loss.id and line(n) > line(step) for n in read):
        message = f"compute {shown} inside the function, and take `{loss.id}` from `{text(step)}`"
        yield Candidate(message, (MoveStatements(tuple(statements), anchor), AssignResult(step, (loss,))), doubt)
    if read:
        copied = CopyStatements(tuple(statements), anchor)
        if program.imports_torch(closure) and _follow(program, statements):
            beside = UnderNoGrad(tuple(statements))
            yield Candidate(
                f"compute {shown} inside the function, and beside it without graph", (beside, copied), doubt
            )
        yield Candidate(f"compute {shown} inside the function, too", (copied,), doubt)


def _follow(program: Program, statements: list[ast.stmt]) -> bool:
    """Whether they stand in one block, one behind the other."""
    block = program.block(statements[0])
    at = block.index(statements[0])
    return block[at : at + len(statements)] == statements


def _is_bound_otherwise(program: Program, statements: list[ast.stmt], bound: set[str]) -> bool:
    """Whether another statement of the function binds one of the names, or one is read before it is bound."""
    if _is_read_first(program, statements, bound, set()):
        return True
    inside = {n for s in statements for n in ast.walk(s)}
    around = walk(program.scope(statements[0]))
    return any(
        n not in inside and n.id in bound and not isinstance(n.ctx, ast.Load) for n in around if isinstance(n, ast.Name)
    )


def _is_read_first(program: Program, statements: list[ast.stmt], bound: set[str], known: set[str]) -> bool:
    """Whether one of the `bound` names that are not `known` yet is read before it is bound."""
    for statement in statements:
        if isinstance(statement, ast.If):
            ways = (statement.body, statement.orelse)
            if (program.names_read(statement.test) & bound) - known:
                return True
            if any(_is_read_first(program, way, bound, set(known)) for way in ways):
                return True
        elif (program.names_read(statement) & bound) - known:
            return True
        known |= program.names_bound(statement)
    return False


def _read_outside(program: Program, statements: list[ast.stmt], closure: ast.AST, bound: set[str]) -> list[ast.Name]:
    """Where the names are read, but for the closure and what moves."""
    inside = {n for s in (*statements, closure) for n in ast.walk(s)}
    around = walk(program.scope(statements[0]))
    return [n for n in around if isinstance(n, ast.Name) and n.id in bound and n not in inside]


def _in_order(statements: list[ast.stmt], bound: set[str]) -> list[str]:
    names = (n for s in statements for n in ast.walk(s) if isinstance(n, ast.Name) and n.id in bound)
    return list(dict.fromkeys(n.id for n in names if not isinstance(n.ctx, ast.Load)))


def _stepping(program: Program, closure: ast.FunctionDef) -> ast.Expr | None:
    """The one statement `optimizer.step(closure)` beside the closure."""
    found = []
    for statement in program.block(closure):
        call = call_of(statement)
        if call is None or not isinstance(call.func, ast.Attribute) or call.func.attr != "step":
            continue
        given = arguments_of(call)
        if isinstance(statement, ast.Expr) and any(isinstance(a, ast.Name) and a.id == closure.name for a in given):
            found.append(statement)
    return found[0] if len(found) == 1 else None


def _returned(closure: ast.FunctionDef) -> ast.Name | None:
    """The name that the closure returns, if it does so in one place."""
    returns = [n.value for n in ast.walk(closure) if isinstance(n, ast.Return)]
    is_last = len(returns) == 1 and isinstance(closure.body[-1], ast.Return)
    return returns[0] if is_last and isinstance(returns[0], ast.Name) else None
