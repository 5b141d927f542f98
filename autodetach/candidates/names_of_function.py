"""Where a function is named, as far as the scopes of a file tell: another thing may have the same name."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.arguments import all_parameter_names
from autodetach.machine.children import walk
from autodetach.machine.program_values import Function
from autodetach.machine.quiet import COMPUTING
from autodetach.node_types import CALLABLES, COMPREHENSIONS, SCOPES
from autodetach.view.free_names import bound_otherwise
from autodetach.view.imported import imported
from autodetach.view.program import Program

Named = ast.Name | ast.Attribute
LIBRARIES = COMPUTING | {"torch"}


def named(program: Program, function: Function) -> list[Named]:
    """Where a function is named. Once it is handed on itself, whatever has its name may be that function."""
    every = [node for tree in program.analysis.trees for node in _reads(tree).get(function.name, ())]
    sure = [node for node in every if _means(program, node, function)]
    return sure if all(call_by(program, node) is not None for node in sure) else every


def call_by(program: Program, node: Named) -> ast.Call | None:
    """The call of what is named."""
    around = program.parents.get(node)
    return around if isinstance(around, ast.Call) and around.func is node else None


@kept
def _reads(tree: ast.Module) -> dict[str, list[Named]]:
    """The names and attributes that a file reads."""
    found: dict[str, list[Named]] = {}
    for node in walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found.setdefault(node.id if isinstance(node, ast.Name) else node.attr, []).append(node)
    return found


def _means(program: Program, node: Named, function: Function) -> bool:
    from autodetach.candidates.called_inside import is_of_another_class

    if isinstance(node, ast.Name):
        return _is_visible(program, node, function)
    modules = _modules_of(program, node)
    if modules:
        is_library = modules <= LIBRARIES
        return not is_library and program.file_of(node) is not program.file_of(function.node)
    is_method = isinstance(program.scope(function.node), ast.ClassDef)
    return is_method and not is_of_another_class(program, node, function.node)


def _modules_of(program: Program, node: ast.Attribute) -> set[str]:
    """`torch` of `torch.mean`: what it may be imported from, where nothing else in the file is called so."""
    root, tree = node.value, program.file_of(node)
    while isinstance(root, ast.Attribute):
        root = root.value
    if not isinstance(root, ast.Name) or root.id in _bound_anywhere(tree):
        return set()
    return {path.partition(".")[0] for path in imported(tree).get(root.id, ())}


@kept
def _bound_anywhere(tree: ast.Module) -> frozenset[str]:
    """The variables and parameters of a file."""
    nodes = list(walk(tree))
    bound = {n.id for n in nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    return frozenset(bound | {n.arg for n in nodes if isinstance(n, ast.arg)})


def _is_visible(program: Program, node: ast.Name, function: Function) -> bool:
    """Whether a name is that of the function, in the innermost scope that binds it."""
    home, inner = program.scope(function.node), True
    below: ast.AST = node
    for at in program.enclosing(node):
        if isinstance(at, COMPREHENSIONS) and _is_bound_by(at, node.id):
            return False
        if isinstance(at, SCOPES) and _is_inside(at, below) and (inner or not isinstance(at, ast.ClassDef)):
            inner = False
            if at is home:
                return True
            if node.id in _bound_in(at):
                return isinstance(home, ast.Module) and _is_imported_in(at, node.id)
        if isinstance(at, ast.Module):
            is_free = _is_imported_in(at, node.id) or node.id not in _bound_in(at)
            return at is home or (isinstance(home, ast.Module) and is_free)
        below = at
    return True


def _is_inside(scope: ast.AST, child: ast.AST) -> bool:
    """Whether a part of a definition is run in its scope: defaults, decorators and bases are not."""
    body = getattr(scope, "body", None)
    return child is body or (isinstance(body, list) and child in body)


def _is_bound_by(comprehension: ast.AST, name: str) -> bool:
    targets = (g.target for g in getattr(comprehension, "generators", ()))
    return any(isinstance(n, ast.Name) and n.id == name for target in targets for n in ast.walk(target))


def _is_imported_in(scope: ast.AST, name: str) -> bool:
    wanted = (name, "*")
    return any(isinstance(n, ast.alias) and (n.asname or n.name) in wanted for n in _own_nodes(scope))


@kept
def _bound_in(scope: ast.AST) -> frozenset[str]:
    """The names that a scope binds itself."""
    found, declared = set[str](), set[str]()
    if isinstance(scope, CALLABLES):
        found |= all_parameter_names(scope.args)
    for node in _own_nodes(scope):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            found.add(node.id)
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            declared.update(node.names)
        elif (name := bound_otherwise(node)) is not None:
            found.add(name)
    return frozenset(found - declared)


def _own_nodes(scope: ast.AST) -> Iterator[ast.AST]:
    """What stands in a scope, but not in those inside."""
    body = getattr(scope, "body", [])
    pending: list[ast.AST] = list(body) if isinstance(body, list) else [body]
    while pending:
        node = pending.pop()
        yield node
        if not isinstance(node, (*SCOPES, *COMPREHENSIONS)):
            pending += ast.iter_child_nodes(node)
