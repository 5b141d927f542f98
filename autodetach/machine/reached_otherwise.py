"""What grows, and may be differentiated by ways that no run goes: by an exception, an attribute hook, or a closure.

`except StopIteration as stop: stop.value.backward()` gets what a generator returns, and `raise StopIteration(self.sum)`
brings what an iterator has summed up. In a few passes neither comes to its end.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from autodetach.kept import kept
from autodetach.machine.children import nodes_in, statement_with
from autodetach.machine.exceptions import GROUPS, handles
from autodetach.machine.generators import has_yield
from autodetach.machine.graph import trail_of
from autodetach.machine.growth import Growth
from autodetach.machine.program_values import Frame
from autodetach.machine.quiet import is_report
from autodetach.machine.run import Analysis
from autodetach.machine.spelling import arguments_of, called_name, last_word
from autodetach.machine.walking import differentiates
from autodetach.node_types import FUNCTIONS, FunctionNode

ENDED = "StopIteration"
SHOWING = frozenset("exit format format_exception isinstance print print_exception repr str type".split())
TEXTS = frozenset("float format int item len repr str tolist".split())
CELLS = frozenset({"cell_contents", "getclosurevars", "f_locals", "getgeneratorlocals"})
"""By what a variable of a function is read from outside of it."""
EITHER = (ast.Name, ast.Attribute)


def may_be_reached_otherwise(analysis: Analysis, growth: Growth) -> bool:
    """Whether code in view may get what grows by such a way, though no run has seen it."""
    trees = analysis.trees
    takes, cells = any(map(_takes_result, trees)), any(map(_reads_cells, trees))
    raised = [given for tree in trees for name, given in _raised(tree) if any(_catches(other, name) for other in trees)]
    asked = [*raised, *map(_asked_by_hook, trees)]
    if not (takes or cells or any(asked)):
        return False
    statements = [statement for statement, _ in trail_of(growth.node)]
    if growth.stored is not None:
        statements += (s for tree in trees if (s := statement_with(tree, growth.stored.site.node)) is not None)
    words = {word for statement in statements for word in _words(_changed_by(statement))}
    if any(not words.isdisjoint(names) for names in asked):
        return True
    functions = {f.function.node for _, f in trail_of(growth.node) if isinstance(f, Frame) and f.function is not None}
    functions |= {f for tree in trees for f in _functions(tree) if any(s in statements for s in nodes_in(f))}
    if takes and any(_gives_result(f) for f in functions):
        return True
    inner = {name for f in functions for n in nodes_in(f) if isinstance(n, ast.Nonlocal) for name in n.names}
    return cells and not inner.isdisjoint(words)


@kept
def _functions(tree: ast.AST) -> tuple[FunctionNode, ...]:
    return tuple(n for n in nodes_in(tree) if isinstance(n, FUNCTIONS))


def _gives_result(function: ast.AST) -> bool:
    """Whether a generator returns something, besides what it yields."""
    if not isinstance(function, FUNCTIONS) or not has_yield(function):
        return False
    return any(isinstance(n, ast.Return) and n.value is not None for n in nodes_in(function))


@kept
def _takes_result(tree: ast.AST) -> bool:
    """Whether a file reads what a generator returns: of the exception that ends it, or by `a = yield from steps`."""
    dropped = {n.value for n in nodes_in(tree) if isinstance(n, ast.Expr)}
    return _catches(tree, ENDED) or any(isinstance(n, ast.YieldFrom) and n not in dropped for n in nodes_in(tree))


def _catches(tree: ast.AST, name: str) -> bool:
    """Whether a file catches an exception of a name, and reads what it holds."""
    return any(handles(handler, name) for handler in _reading(tree))


@kept
def _reading(tree: ast.AST) -> tuple[ast.ExceptHandler, ...]:
    """The handlers that do more with their exception than to show it."""
    named = (n for n in nodes_in(tree) if isinstance(n, ast.ExceptHandler) and n.name is not None)
    return tuple(n for n in named if any(_reads(statement, n.name) for statement in n.body))


def _reads(node: ast.AST, name: str | None) -> bool:
    if (isinstance(node, ast.stmt) and is_report(node)) or isinstance(node, (ast.Raise, ast.JoinedStr)):
        return False
    if isinstance(node, ast.Call) and called_name(node) in SHOWING:
        return False
    if isinstance(node, ast.Name):
        return node.id == name
    return any(_reads(child, name) for child in ast.iter_child_nodes(node))


@kept
def _raised(tree: ast.AST) -> tuple[tuple[str, frozenset[str]], ...]:
    """The exceptions that a file raises with something in them, and the names of that; a group holds others."""
    raised = [n.exc for n in nodes_in(tree) if isinstance(n, ast.Raise) and isinstance(n.exc, ast.Call)]
    inside = [each for call in raised if last_word(call.func) in GROUPS for each in nodes_in(call)]
    made = [*raised, *(each for each in inside if isinstance(each, ast.Call))]
    return tuple((last_word(call.func), frozenset(_words(arguments_of(call)))) for call in made)


@kept
def _asked_by_hook(tree: ast.AST) -> frozenset[str]:
    """The names in what a class runs whenever an attribute is read, if that differentiates."""
    hooks = (f for f in _functions(tree) if f.name == "__getattribute__" and differentiates(f))
    return frozenset(word for hook in hooks for word in _words(hook.body))


@kept
def _reads_cells(tree: ast.AST) -> bool:
    return any(isinstance(n, EITHER) and last_word(n) in CELLS for n in nodes_in(tree))


def _changed_by(statement: ast.stmt) -> list[ast.expr]:
    """What a statement sets, and the objects of which it calls methods."""
    if hasattr(statement, "body"):
        return []
    named: list[ast.expr] = []
    for node in nodes_in(statement):
        if isinstance(node, EITHER) and isinstance(node.ctx, ast.Store):
            named.append(node)
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            owner = node.func.value
            while isinstance(owner, ast.Subscript):
                owner = owner.value
            named += [owner] if isinstance(owner, EITHER) else []
    return named


def _words(nodes: Sequence[ast.AST]) -> Iterator[str]:
    """The names of variables and attributes, but not of the objects that have these, nor what a text shows."""
    pending: list[ast.AST] = [*nodes]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.Attribute):
            yield node.attr
            pending += [] if isinstance(node.value, ast.Name) else [node.value]
        elif isinstance(node, ast.Name):
            yield node.id
        elif not _is_text(node):
            pending += ast.iter_child_nodes(node)


def _is_text(node: ast.AST) -> bool:
    """Whether it is a text or a number that is made of something: `"loss %f" % loss`, `"{}".format(loss)`."""
    if isinstance(node, ast.Call):
        return last_word(node.func) in TEXTS
    is_filled = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant)
    return is_filled or isinstance(node, ast.JoinedStr)
