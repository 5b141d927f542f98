"""Whether all that a program does with gradients is in view, and it cuts history off in each pass, whatever is asked.

What trains nothing now may be meant to be trained later: behind a flag, by a part that nothing has called yet, by
gradients that are set by hand, or by code out of view. A program that may do any of this is taken at its word.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.machine.children import walk
from autodetach.machine.in_view import is_import_in_view
from autodetach.machine.spelling import spelled
from autodetach.node_types import DEFINITIONS, FUNCTIONS

SET_OTHERWISE = frozenset(
    """
    grad _grad requires_grad requires_grad_ set_grad_enabled enable_grad multiprocessing distributed func
    functional_call param_groups vector_to_parameters copy_ lerp_ mul_ add_ sub_ register_hook register_forward_hook
    register_forward_pre_hook register_full_backward_hook register_backward_hook register_post_accumulate_grad_hook
    register_module_forward_hook setattr getattr exec eval
    """.split()
)
"""By what a parameter may come to a gradient, or to be trained or not, that no differentiation in view shows."""
CUTS = frozenset("detach detach_ data no_grad inference_mode".split())
MODES = frozenset("no_grad inference_mode".split())


def always_cuts(tree: ast.Module, executed: Collection[ast.AST], called: Collection[str]) -> bool:
    """Whether a program has been `executed` wholly, and neither decides what to cut off, nor sets gradients by hand.

    `called` are the functions that it calls itself, by their qualified names.
    """
    if not all(map(_is_in_view, walk(tree))) or any(_names(n) in SET_OTHERWISE for n in _but_eval(tree)):
        return False
    if _derives(tree) or not set(_functions_in(tree, "")).issubset(called):
        return False
    statements = (n for n in walk(tree) if isinstance(n, ast.stmt))
    return all(n in executed or _does_nothing(n) for n in statements) and not any(_chosen_cuts(tree, False))


def is_made_ready(tree: ast.Module, step: ast.AST) -> bool:
    """Whether the optimizer that takes a step is asked to `zero_grad`, too: so it is meant to have gradients."""
    if not isinstance(step, ast.Call) or not isinstance(step.func, ast.Attribute):
        return False
    optimizer = spelled(step.func.value)
    asked = (n for n in walk(tree) if isinstance(n, ast.Attribute) and n.attr == "zero_grad")
    return bool(optimizer) and any(spelled(n.value) == optimizer for n in asked)


def _is_in_view(node: ast.AST) -> bool:
    if not is_import_in_view(node):
        return False
    if isinstance(node, ast.Import):
        return all(SET_OTHERWISE.isdisjoint(alias.name.split(".")) for alias in node.names)
    return not isinstance(node, ast.ImportFrom) or all(a.name not in SET_OTHERWISE | MODES for a in node.names)


def _but_eval(tree: ast.Module) -> Iterator[ast.AST]:
    """All nodes, but for `network.eval()`, which is no `eval(text)`."""
    return (n for n in walk(tree) if not (isinstance(n, ast.Attribute) and n.attr == "eval"))


def _names(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").rpartition(".")[2]
    return node.id if isinstance(node, ast.Name) else ""


def _functions_in(node: ast.AST, around: str) -> Iterator[str]:
    """The qualified names of all functions below a node."""
    for part in ast.iter_child_nodes(node):
        inside = around
        if isinstance(part, DEFINITIONS):
            inside = f"{around}.{part.name}" if around else part.name
            if not isinstance(part, ast.ClassDef):
                yield inside
        yield from _functions_in(part, inside)


def _derives(tree: ast.Module) -> bool:
    """Whether a class is another one of the program, of which a part is done otherwise."""
    classes = [n for n in walk(tree) if isinstance(n, ast.ClassDef)]
    names = {cls.name for cls in classes}
    return any(isinstance(base, ast.Name) and base.id in names for cls in classes for base in cls.bases)


def _does_nothing(statement: ast.stmt) -> bool:
    is_text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    return is_text or isinstance(statement, (ast.Pass, ast.Raise, ast.Import, ast.ImportFrom))


def _chosen_cuts(node: ast.AST, chosen: bool) -> Iterator[ast.AST]:
    """Where history is cut off only if a test says so, or by a mode that is no `with` or decorator of its own."""
    for part in ast.iter_child_nodes(node):
        if _names(part) in CUTS and (chosen or (_names(part) in MODES and not _is_entered(node))):
            yield part
        yield from _chosen_cuts(part, chosen or _chooses(part))


def _chooses(node: ast.AST) -> bool:
    if isinstance(node, ast.If):
        return not any(isinstance(n, ast.Name) and n.id == "__name__" for n in ast.walk(node.test))
    return isinstance(node, (ast.IfExp, ast.BoolOp, ast.Match, ast.Try, ast.While, ast.Lambda))


def _is_entered(around: ast.AST) -> bool:
    """Whether a mode is called, without arguments, or decorates."""
    if isinstance(around, ast.Call):
        return not around.args and not around.keywords
    return isinstance(around, FUNCTIONS)
