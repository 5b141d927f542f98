"""Whether two networks are surely others, so that what is told to one is no matter for the other."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word, root_of, spelled
from autodetach.once import once
from autodetach.view.assigned import assigned
from autodetach.view.free_names import bound_otherwise
from autodetach.view.program import Program
from autodetach.view.targets import is_set

OF_NUMBERS = frozenset("device float int is_available len max min round".split())


def are_apart(program: Program, one: ast.expr, other: ast.expr) -> bool:
    """Whether both are made by calls of classes or of what is imported, of nothing that has to do with the other.

    A parameter, an attribute or an element may be anything, and so may what something is set on.
    """
    if spelled(one) == spelled(other):
        return False
    names = {n.id for n in (one, other) if isinstance(n, ast.Name)}
    return all(_is_made_alone(program, n, names) for n in (one, other))


def _is_made_alone(program: Program, network: ast.expr, names: set[str]) -> bool:
    values: list[ast.AST | None] = [network]
    if isinstance(network, ast.Name):
        values = _bindings(program).get(network.id, [])
        trees = program.analysis.trees
        if any(is_set(n) and spelled(root_of(n)) == network.id for tree in trees for n in walk(tree)):
            return False
    return bool(values) and all(isinstance(v, ast.Call) and _is_new(program, v, names) for v in values)


def _is_new(program: Program, call: ast.Call, names: set[str]) -> bool:
    """Whether a call makes an object of numbers, layers that it makes itself and the like."""
    called = {root_of(n.func) for n in ast.walk(call) if isinstance(n, ast.Call)}
    for name in (n for n in ast.walk(call) if isinstance(n, ast.Name)):
        is_given = name not in called and not isinstance(program.parents.get(name), ast.Attribute)
        is_class = _is_class(program, name, names) and (not is_given or name.id[:1].isupper())
        if not is_class and (name in called or not _is_number(program, name)):
            return False
    return True


def _is_class(program: Program, name: ast.Name, names: set[str]) -> bool:
    """Whether it is a class, which says no such names, or imported."""
    return all(
        isinstance(at, ast.alias)
        or (isinstance(at, ast.ClassDef) and names.isdisjoint(n.id for n in walk(at) if isinstance(n, ast.Name)))
        for at in _bindings(program).get(name.id, [])
    )


def _is_number(program: Program, name: ast.Name) -> bool:
    """Whether a name is bound to nothing but what is computed of numbers, and devices."""
    return all(
        isinstance(at, ast.expr) and all(isinstance(n, ast.Constant) or _is_of_numbers(n) for n in _leaves(at))
        for at in _bindings(program).get(name.id, [])
    )


def _leaves(value: ast.expr) -> Iterator[ast.expr]:
    """The constants, names, calls and whatever else is no arithmetic of an expression."""
    parts = (n for n in ast.iter_child_nodes(value) if isinstance(n, ast.expr))
    if isinstance(value, (ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Tuple)):
        for part in parts:
            yield from _leaves(part)
    else:
        yield value


def _is_of_numbers(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and last_word(node.func) in OF_NUMBERS


@once
def _bindings(program: Program) -> dict[str, list[ast.AST | None]]:
    """What each name is bound to anywhere: an expression, a class or what is imported; None for anything else."""
    found: dict[str, list[ast.AST | None]] = {}
    for node in (n for tree in program.analysis.trees for n in walk(tree)):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            pairs = assigned(program.statement(node))
            found.setdefault(node.id, []).append(next((value for target, value in pairs if target is node), None))
        elif isinstance(node, ast.arg):
            found.setdefault(node.arg, []).append(None)
        elif (name := bound_otherwise(node)) is not None:
            found.setdefault(name, []).append(node if isinstance(node, (ast.alias, ast.ClassDef)) else None)
    return found
