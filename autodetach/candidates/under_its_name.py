"""What is computed anew is kept under a name that nobody reads, or under none; the old value is differentiated."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.one_number import gives_one_number
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation, Node, calls_of
from autodetach.machine.operands import expression_of
from autodetach.machine.run import Run
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.program import Program, handed, statement_in, text, without_retain

MEANT = "which of the two results the loss is meant to be computed from, only its author knows"


def under_its_name(program: Program, run: Run, first: Differentiation, second: Differentiation) -> Iterator[Candidate]:
    """`logits = model(x)`, of which nothing is read, becomes `outputs = model(x)`: the loss reads `outputs`.

    And `criterion(model(x), y)` alone becomes `loss = criterion(model(x), y)` in front of another `loss.backward()`.
    """
    from autodetach.codemods.assign_result import AssignResult
    from autodetach.codemods.replace_expression import ReplaceExpression

    fresh = [n for n in run.machine.nodes if first.number < n.number < second.number and not n.walked_by]
    for now, frame in reversed(second.trail):
        for statement in dict.fromkeys(statement_in(n, frame) for n in fresh):
            if isinstance(statement, ast.Expr) and now in _behind(program, statement):
                loss = _differentiated(program, second, statement)
                if loss is not None and _ends(program, run, statement, fresh, frame):
                    shown = f"keep `{text(statement.value)}` as `{loss.id}`"
                    assign, flags = AssignResult(statement, (loss,)), without_retain([*second.walked, *fresh])
                    if flags:
                        yield Candidate(f"{shown}, and retain no graph", (assign, *flags), MEANT, cuts=True, adds=True)
                    yield Candidate(shown, (assign,), MEANT, cuts=True, adds=True)
                    return
            if not isinstance(statement, ast.Assign) or not isinstance(statement.value, ast.Call):
                continue
            target, behind = statement.targets[0], _behind(program, statement)
            if now not in behind or not isinstance(target, ast.Name) or not _is_dropped(program, target.id, behind):
                continue
            for name in _old_names(statement.value, first, second):
                if program.statement(name) in behind:
                    shown = f"keep `{text(statement.value)}` as `{name.id}`, which the loss is computed from"
                    rename, flags = ReplaceExpression(target, name.id), without_retain(second.walked)
                    if flags:
                        yield Candidate(f"{shown}, and retain no graph", (rename, *flags), MEANT)
                    yield Candidate(shown, (rename,), MEANT)
                    return


def _behind(program: Program, statement: ast.stmt) -> list[ast.stmt]:
    block = program.block(statement)
    return block[block.index(statement) + 1 :]


def _differentiated(program: Program, second: Differentiation, statement: ast.Expr) -> ast.Name | None:
    """The one name of something with history in what is differentiated, as in `scaler.scale(loss)`."""
    root = second.root_expression
    if root is None or program.scope(root) is not program.scope(statement):
        return None
    made = {
        name for s in walk(program.scope(root))
        if isinstance(s, ast.Assign) and program.has_graph(s) for name in program.names_bound(s)
    }  # fmt: skip
    names = [n for n in ast.walk(root) if isinstance(n, ast.Name) and n.id in made]
    return names[0] if len(names) == 1 else None


def _ends(program: Program, run: Run, statement: ast.Expr, fresh: list[Node], frame: object) -> bool:
    """Whether the value of a statement is a loss that is computed there, and nothing is computed from it."""
    call, read = statement.value, {parent for n in run.machine.nodes for parent in n.parents}
    if not isinstance(call, ast.Call):
        return False
    made = (n for n in fresh if n.site.node is call and n not in read)
    return any(gives_one_number(program, call, n.op, frame) for n in made)


def _is_dropped(program: Program, name: str, behind: list[ast.stmt]) -> bool:
    """Whether a name is bound anew before anything reads it; behind the block, nothing at all may read it."""
    for statement in behind:
        if name in program.names_read(statement):
            return False
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and name in program.names_bound(statement):
            return True
    scope = program.scope(behind[0])
    return not any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Load) for n in walk(scope))


def _old_names(call: ast.Call, first: Differentiation, second: Differentiation) -> Iterator[ast.Name]:
    """By which names the second loss is computed from what the same call has made before the first differentiation."""
    for node in second.walked:
        for operand in node.operands if node.number > first.number else ():
            made = getattr(operand, "node", None)
            if made is None or made.number > first.number or not _is_made_by(made, call):
                continue
            read = [expression_of(node, operand), *handed(node.chain, operand)]
            yield from (e for e in read if isinstance(e, ast.Name))


def _is_made_by(node: Node, call: ast.Call) -> bool:
    places = [node.site.node, *(site.node for site in calls_of(node.chain))]
    return any(isinstance(p, ast.Call) and spelled(p) == spelled(call) for p in places)
