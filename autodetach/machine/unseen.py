"""Whether something that grows is also used where no path came by, so that nobody can say what is done with it there.

The budget ends the search for paths, and a loop over many items ends after a few: a flag that one of the others sets
may lead to a statement which differentiates what was kept.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.machine.run import Run
from autodetach.machine.statements import is_report

OF_NUMBERS = frozenset({"len", "float", "str", "print", "type", "isinstance"})
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def is_used_unseen(trees: Sequence[ast.Module], runs: Sequence[Run], site: ast.AST) -> bool:
    """Whether what a statement or call at `site` puts something into is handed on by a statement that no run executed.

    A name is looked for in its function, an attribute in all files.
    """
    kept = _kept_by(site)
    name = kept.id if isinstance(kept, ast.Name) else kept.attr if isinstance(kept, ast.Attribute) else ""
    if not name:
        return False
    for tree in trees:
        around = tree if isinstance(kept, ast.Attribute) else _home(tree, site)
        if around is not None and any(_hands_on(one, type(kept), name) for one in _not_executed(around, runs)):
            return True
    return False


def _kept_by(site: ast.AST) -> ast.expr | None:
    """The expression of the container, or of the variable, that a call or an assignment changes."""
    if isinstance(site, ast.Call) and isinstance(site.func, ast.Attribute):
        found: ast.expr | None = site.func.value
    elif isinstance(site, ast.AugAssign):
        found = site.target
    elif isinstance(site, ast.expr):
        found = site
    else:
        found = None
    while isinstance(found, ast.Subscript):
        found = found.value
    return found


def _home(tree: ast.Module, site: ast.AST) -> ast.AST | None:
    """The innermost function around a node of a file, or the file."""
    home: ast.AST | None = None
    pending: list[tuple[ast.AST, ast.AST]] = [(tree, tree)]
    while pending:
        node, around = pending.pop()
        if node is site:
            return around
        inner = node if isinstance(node, FUNCTIONS) else around
        pending += ((child, inner) for child in ast.iter_child_nodes(node))
    return home


def _not_executed(around: ast.AST, runs: Sequence[Run]) -> Iterator[ast.stmt]:
    """The statements of a function that no run came by, but for what stands in functions that none has called."""
    pending: list[ast.AST] = list(ast.iter_child_nodes(around))
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt) and not any(node in run.machine.executed for run in runs):
            yield node
        elif isinstance(node, FUNCTIONS) and not any(node.body[0] in run.machine.executed for run in runs):
            continue
        else:
            pending += ast.iter_child_nodes(node)


def _hands_on(statement: ast.stmt, kind: type[object], name: str) -> bool:
    """Whether a name or attribute is an argument somewhere in a statement, but for those that only report it."""
    pending: list[ast.AST] = [statement]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.stmt) and is_report(node):
            continue
        if isinstance(node, ast.Call) and not (isinstance(node.func, ast.Name) and node.func.id in OF_NUMBERS):
            for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
                if isinstance(argument, kind) and name in (getattr(argument, "id", ""), getattr(argument, "attr", "")):
                    return True
        pending += ast.iter_child_nodes(node)
    return False
