"""What a function has made and changes in place, though it was saved as it was: the changed value is a new tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.events import StaleSaved
from autodetach.machine.torch_semantics import VIEWS
from autodetach.machine.values import Tensor
from autodetach.suspect import Candidate
from autodetach.view.program import Program, line, text

SIGNS: dict[type[ast.operator], str] = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Pow: "**"}
TAKING = frozenset({"add", "append", "appendleft", "extend", "insert", "put", "setdefault", "update"})


def out_of_place(program: Program, event: StaleSaved) -> Iterator[Candidate]:
    """`x += y` -> `x = x + y`, where `x` is a local name of what an operation before it has made."""
    from autodetach.codemods.replace_statement import ReplaceStatement

    changed = event.changed.node
    if not isinstance(changed, ast.AugAssign) or not isinstance(changed.target, ast.Name):
        return
    value = next((v for e, v in event.changed.operands if e is changed.target), None)
    if not isinstance(value, Tensor) or value.is_leaf or value.storage is not event.storage:
        return
    name = changed.target.id
    made = _made(program, changed, name)
    if made is None:
        return
    later = [
        s
        for s in ast.walk(program.scope(changed))
        if isinstance(s, ast.AugAssign) and isinstance(s.target, ast.Name) and s.target.id == name
        and line(s) >= line(made) and type(s.op) in SIGNS and program.scope(s) is program.scope(changed)
    ]  # fmt: skip
    doubt = f"what else holds `{name}` keeps the value that it had" if _is_held(program, made, name) else None
    later.sort(key=line)
    # Several may follow each other, of which the event has the last.
    tries = [tuple(group) for group in ([changed], later[:1], later) if group]
    for statements in dict.fromkeys(tries):
        if all(type(s.op) in SIGNS for s in statements):
            shown = " and ".join(f"`{text(s)}`" for s in statements)
            codemods = tuple(
                ReplaceStatement(s, f"{name} = {name} {SIGNS[type(s.op)]} {_term(s)}", (s.value,)) for s in statements
            )
            yield Candidate(f"compute a new tensor in place of changing it: {shown}", codemods, doubt)


def _term(statement: ast.AugAssign) -> str:
    """The place of what is added, in parentheses where it would be taken apart."""
    inner = getattr(statement.value, "op", None)
    is_sum = isinstance(statement.op, (ast.Add, ast.Sub))
    is_loose = isinstance(inner, (ast.Add, ast.Sub)) if is_sum else isinstance(statement.value, ast.BinOp)
    return "({0})" if is_loose else "{0}"


def _made(program: Program, changed: ast.AugAssign, name: str) -> ast.Assign | None:
    """The assignment that gives a name what a call or an operator has computed, on every way to a statement."""
    before = [
        s
        for s in ast.walk(program.scope(changed))
        if isinstance(s, ast.Assign) and line(s) < line(changed) and program.scope(s) is program.scope(changed)
        and any(isinstance(n, ast.Name) and n.id == name for t in s.targets for n in ast.walk(t))
    ]  # fmt: skip
    last = max(before, key=line, default=None)
    if last is None or len(last.targets) > 1 or not isinstance(last.targets[0], ast.Name):
        return None
    around = [changed, *(at for at in program.enclosing(changed) if isinstance(at, ast.stmt))]
    if not any(last in program.block(at) for at in around):
        return None
    if isinstance(last.value, ast.Call):
        called = last.value.func
        is_view = isinstance(called, ast.Attribute) and (called.attr in VIEWS or called.attr in ("detach", "to"))
        return None if is_view else last
    return last if isinstance(last.value, ast.BinOp) else None


def _is_held(program: Program, made: ast.Assign, name: str) -> bool:
    """Whether something else than a name may hold what it names, or a view of it."""
    names = (n for n in ast.walk(program.scope(made)) if isinstance(n, ast.Name) and n.id == name)
    return any(isinstance(n.ctx, ast.Load) and line(n) > line(made) and _is_kept(program, n) for n in names)


def _is_kept(program: Program, node: ast.expr) -> bool:
    around = program.parents.get(node)
    if isinstance(around, ast.Subscript) and around.value is node:
        return _is_kept(program, around)
    if isinstance(around, ast.Attribute):
        call = program.parents.get(around)
        is_view = around.attr in VIEWS or around.attr in ("data", "detach")
        return is_view and _is_kept(program, call if isinstance(call, ast.Call) and call.func is around else around)
    if isinstance(around, ast.Call):
        return isinstance(around.func, ast.Attribute) and around.func.attr in TAKING
    return isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr, ast.Tuple, ast.List, ast.Dict, ast.Yield))
