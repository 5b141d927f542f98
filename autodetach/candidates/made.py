"""Where a function has made what it changes, and who else may hold it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.torch_semantics import FACTORIES, OPS, TENSOR_ATTRIBUTES, lookup
from autodetach.node_types import LOOPS, YIELDS
from autodetach.view.entered import computed_by, entered_by
from autodetach.view.kept import is_of, is_sharing, means_another, outlasts
from autodetach.view.program import Program, line

MARKING = frozenset({"retain_grad", "retains_grad"})
MAX_CALLS = 4


def made_in_scope(program: Program, changed: ast.AST, name: str) -> ast.Assign | None:
    """The assignment that gives a variable or an attribute, by its text, what a call or an operator has computed.

    It stands on every way to the statement in which a node stands.
    """
    before = [
        s
        for s in walk(program.scope(changed))
        if isinstance(s, ast.Assign) and line(s) < line(changed) and program.scope(s) is program.scope(changed)
        and any(spelled(n) == name for t in s.targets for n in _named(t))
    ]  # fmt: skip
    last = max(before, key=line, default=None)
    if last is None or len(last.targets) > 1 or spelled(last.targets[0]) != name:
        return None
    around = [changed, *program.enclosing(changed)]
    if not any(last in program.block(at) for at in around if isinstance(at, ast.stmt)):
        return None
    if isinstance(last.value, ast.Call):
        called = last.value.func
        may_share = isinstance(called, ast.Attribute) and lookup(called.attr).view
        return None if may_share else last
    return last if isinstance(last.value, ast.BinOp) else None


def _named(target: ast.expr) -> Iterator[ast.Name | ast.Attribute]:
    """What may be another one behind an assignment: a tensor of which a part is written, `p[k] = 0`, stays the same."""
    if isinstance(target, (ast.Name, ast.Attribute)):
        yield target
    if not isinstance(target, ast.Subscript):
        for inner in ast.iter_child_nodes(target):
            if isinstance(inner, ast.expr):
                yield from _named(inner)


def doubt_of_holders(program: Program, name: str, made: ast.Assign | None, changed: ast.AST) -> str | None:
    """Why a new tensor under a name may not be meant: others may hold the old one, or nobody knows who made it."""
    is_shared = made is None or not is_new(program, made.value) or is_held(program, made, name, changed)
    return f"what else holds `{name}` keeps the value that it had" if is_shared else None


def is_held(program: Program, made: ast.Assign, name: str, changed: ast.AST) -> bool:
    """Whether something else than a name may hold what it names, or a view of it, when that is changed.

    What computes something new of it does not, nor what prints or measures it. All else may.
    """
    scope = program.scope(made)
    outside = {scope, *program.enclosing(scope)}
    again = any(isinstance(at, LOOPS) and at not in program.enclosing(made) for at in program.enclosing(changed))
    end = getattr(changed, "end_lineno", 0)
    for node in _mentions(program, scope, name):
        is_own = program.scope(node) is scope
        is_behind = (made.end_lineno or 0, made.end_col_offset or 0) <= (node.lineno, node.col_offset)
        is_between = is_behind and (again or line(node) <= end)
        if isinstance(node, ast.Name) and means_another(program, node, outside):
            continue
        if (is_between or not is_own) and (_is_marked(program, node) or outlasts(program, node, may_return=is_own)):
            return True
    return False


def _mentions(program: Program, scope: ast.AST, name: str) -> Iterator[ast.Name | ast.Attribute]:
    """Where a name is read, in functions inside as well; an attribute of an object anywhere."""
    last = name.rpartition(".")[2]
    for around in program.analysis.trees if "." in name else (scope,):
        nodes = (n for n in walk(around) if isinstance(n, (ast.Name, ast.Attribute)) and isinstance(n.ctx, ast.Load))
        yield from (n for n in nodes if spelled(n) == name or (isinstance(n, ast.Attribute) and n.attr == last != name))


def _is_marked(program: Program, node: ast.expr) -> bool:
    """`h.retain_grad()`, `h.name_of_layer = "conv"`: what the tensor itself has, and a new one would not."""
    around = program.parents.get(node)
    if not isinstance(around, ast.Attribute):
        return False
    return not isinstance(around.ctx, ast.Load) or around.attr in MARKING or around.attr not in TENSOR_ATTRIBUTES


def is_new(program: Program, value: ast.expr, depth: int = 0) -> bool:
    """Whether what an expression gives is held by nothing that has made it, as a cell that keeps its state does."""
    if not isinstance(value, ast.Call):
        return isinstance(value, ast.BinOp)
    if is_sharing(last_word(value.func)) or depth > MAX_CALLS:
        return False
    is_torch = is_of(program, value, ("torch",)) and last_word(value.func) in OPS.keys() | FACTORIES
    is_known = is_torch or last_word(value.func) == "clone" or any(True for _ in computed_by(program, value))
    return is_known and all(_gives_new(program, function, depth + 1) for function in entered_by(program, value))


def _gives_new(program: Program, function: ast.FunctionDef | ast.AsyncFunctionDef, depth: int) -> bool:
    """Whether all that a function returns was computed in it, and it keeps nothing of that."""
    own = [n for n in walk(function) if program.scope(n) is function]
    if any(isinstance(n, YIELDS) for n in own):
        return False
    for given in (n.value for n in own if isinstance(n, ast.Return) and n.value is not None):
        named = [n for n in own if isinstance(n, ast.Name) and spelled(n) == spelled(given)]
        reads = [n for n in named if isinstance(n.ctx, ast.Load)]
        bound = [program.parents.get(n) for n in named if not isinstance(n.ctx, ast.Load)]
        made = [s.value for s in bound if isinstance(s, ast.Assign) and len(s.targets) == 1]
        if isinstance(given, ast.Name) and (not made or len(made) < len(bound)):
            return False
        if any(outlasts(program, n, may_return=True) for n in reads):
            return False
        if not all(is_new(program, value, depth) for value in (made if isinstance(given, ast.Name) else [given])):
            return False
    return True
