"""Whether statements can move to where what they bind is read: nothing else may read it, or bind what they read."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.called_inside import is_of_another_class
from autodetach.candidates.reached import is_out_of_reach
from autodetach.machine.arguments import parameter_names
from autodetach.machine.children import targets_of, walk
from autodetach.machine.spelling import is_none
from autodetach.node_types import CALLABLES, FUNCTIONS
from autodetach.view.assigned import assigned
from autodetach.view.free_names import bound_otherwise
from autodetach.view.program import Program, line

ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)


def is_movable(program: Program, statements: list[ast.stmt], anchor: ast.stmt) -> bool:
    """Whether nothing that stays behind reads what the statements bind before they will have run."""
    bound = {name for s in statements for name in program.names_bound(s)}
    home, goal = program.scope(statements[0]), program.scope(anchor)
    if home is not goal and read_by_others(program, statements, goal):
        return False
    if _is_bound_anew(program, statements, goal):
        return False
    first = min(line(s) for s in statements)
    moved = set(statements)
    for node in walk(program.file_of(anchor)):
        if not (isinstance(node, ast.Name) and node.id in bound):
            continue
        around = list(program.enclosing(node))
        if any(at in moved for at in around):
            continue
        if home is goal:
            if program.scope(node) is home and first < node.lineno < line(anchor):
                return False
            if is_out_of_reach(program, node, anchor):
                return False
        elif goal not in around and (program.scope(node) is home or not _binds(program.scope(node), node.id)):
            return False  # it becomes a local name of the function
        elif goal in around and isinstance(node.ctx, ast.Store):
            return False
    return all(isinstance(t, (ast.Name, ast.Attribute, ast.Tuple)) for s in statements for t in bound_by(s))


def _is_bound_anew(program: Program, statements: list[ast.stmt], goal: ast.AST) -> bool:
    """Whether what the statements read may be something else by then: `x` of `out = net(x)`, in a loop over `x`."""
    bound = {name for s in statements for name in program.names_bound(s)}
    read = {name: line(s) for s in reversed(statements) for name in program.names_read(s) - bound}
    home = program.scope(statements[0])
    if home is not goal and isinstance(goal, FUNCTIONS):
        this = goal.args.args[:1] if isinstance(program.parents.get(goal), ast.ClassDef) else []
        if read.keys() & {a.arg for a in ast.walk(goal.args) if isinstance(a, ast.arg) and a not in this}:
            return True
    if any(
        bound_otherwise(n) in read and (scope is not home or isinstance(n, ast.ExceptHandler))
        for scope in {home, goal}
        for n in walk(scope)
        if program.scope(n) is scope
    ):
        return True  # at the end of `except ... as k`, there is no `k` any more
    return any(
        n.id in read and not isinstance(n.ctx, ast.Load) and not _is_updated(program, n)
        for scope in {home, goal}
        for n in walk(scope)
        if isinstance(n, ast.Name) and program.scope(n) is scope and (scope is not home or n.lineno > read.get(n.id, 0))
    )


def _is_updated(program: Program, name: ast.Name) -> bool:
    """Whether a name is bound by `w -= step` or `w = w - step`."""
    statement = program.statement(name)
    return isinstance(statement, ast.AugAssign) or (
        isinstance(statement, ast.Assign) and name.id in program.names_read(statement.value)
    )


def read_by_others(program: Program, statements: list[ast.stmt], goal: ast.AST) -> bool:
    """Whether an attribute that a method sets is mentioned outside of the function which would set it instead.

    That a constructor begins it with None tells nobody anything, unless others set what it is made of.
    """
    others = mentioned_by_others(program, statements, goal)
    return not all(_is_begun_empty(program, n) for n in others) or (
        bool(others) and is_set_elsewhere(program, statements)
    )


def mentioned_by_others(program: Program, statements: list[ast.stmt], goal: ast.AST) -> list[ast.Attribute]:
    kept = {t.attr for s in statements for t in targets_of(s) if isinstance(t, ast.Attribute)}
    nodes = walk(program.file_of(goal)) if kept else ()
    mentions = (n for n in nodes if isinstance(n, ast.Attribute) and n.attr in kept)
    return [
        n
        for n in mentions
        if {goal, *statements}.isdisjoint(program.enclosing(n)) and not is_of_another_class(program, n, goal)
    ]


def _is_begun_empty(program: Program, mention: ast.Attribute) -> bool:
    """`self.matrix` of `self.matrix = None` in a constructor, where several may stand in a row."""
    method, statement = program.scope(mention), program.statement(mention)
    if not isinstance(method, ast.FunctionDef) or method.name != "__init__":
        return False
    if isinstance(statement, ast.AnnAssign):
        return statement.target is mention and is_none(statement.value)
    return any(target is mention and is_none(value) for target, value in assigned(statement))


def is_set_elsewhere(program: Program, statements: list[ast.stmt]) -> bool:
    """Whether an attribute that the statements read is set by others than constructors, and what runs before them."""
    first = min(statements, key=line)
    own = {n for s in statements for n in ast.walk(s)}
    read = {n.attr for n in own if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Load)}
    for node in walk(program.file_of(first)):
        if isinstance(node, ast.Attribute) and not isinstance(node.ctx, ast.Load) and node.attr in read:
            scope = program.scope(node)
            is_before = scope is program.scope(first) and node.lineno < line(first)
            if node not in own and not is_before and getattr(scope, "name", "") != "__init__":
                return True
    return False


def _binds(scope: ast.AST, name: str) -> bool:
    """Whether a name is local to a function."""
    if not isinstance(scope, CALLABLES):
        return False
    if name in parameter_names(scope.args):
        return True
    return any(isinstance(n, ast.Name) and n.id == name and isinstance(n.ctx, ast.Store) for n in walk(scope))


def bound_by(statement: ast.stmt) -> Iterator[ast.expr]:
    """What a statement and those in it bind."""
    yield from (t for s in ast.walk(statement) if isinstance(s, ASSIGNMENTS) for t in targets_of(s))
