"""Where a program reads `.grad_fn`: from there it may walk the graph, draw it, or have its nodes called.

No differentiation tells of that. What is only printed, or compared with None, leads nowhere.
https://docs.pytorch.org/docs/stable/autograd.graph.html
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autodetach.machine.children import children_of, nodes_in
from autodetach.machine.core import Core
from autodetach.machine.events import FlagRead, GraphRead
from autodetach.machine.graph import Site
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Opaque, Tensor

SHOWING = frozenset("ascii format hash id isinstance print repr str type".split())
"""Builtins that make nothing of a node but a text, a number or its class."""
NAMING = frozenset({"name", "_sequence_nr"})
"""Methods of nodes that give nothing of what they have saved."""
LEADING = frozenset({"next_functions", "metadata", "__class__", "__name__", *NAMING})
"""What nodes have that shows no more than themselves."""
LOGGING = frozenset("critical debug error exception info log warn warning".split())
"""Methods of `logging` and its loggers."""
NAMELESS = (ast.Is, ast.IsNot, ast.Eq, ast.NotEq)


def note_read(m: Core, value: Tensor | Opaque, site: Site) -> None:
    """Note that `.grad_fn` of a tensor is read; shown, only that there is one."""
    around = _around(m.trail[-1][0], site.node) if m.trail else []
    asked = _is_asked(site.node, around)
    if asked or not _is_shown(site.node, around):
        m.facts.append(GraphRead(value, value.node, site, m.tick(), asked))
    elif value.node is None or not value.node.weak:
        note_flag(m, "grad_fn", value.node is not None and not value.node.leaf, site)


def note_flag(m: Core, name: str, answer: bool, site: Site) -> None:
    """Note that a tensor is asked for what `detach()` changes, unless that only chooses what becomes of it."""
    around = _around(m.trail[-1][0], site.node) if m.trail else []
    if not _is_chosen(site.node, around):
        m.facts.append(FlagRead(site, name, answer))


def _is_chosen(node: ast.AST, around: list[ast.AST]) -> bool:
    """`h = h if h.requires_grad else h.clone()`, `if h.requires_grad: h = h.detach()`: where that leads is run."""
    asked = spelled(node.value) if isinstance(node, ast.Attribute) else ""
    for parent in around:
        if isinstance(parent, ast.IfExp):
            return parent.test is node and _mentions([parent.body, parent.orelse], asked)
        if isinstance(parent, (ast.If, ast.While)):
            return parent.test is node and _mentions([*parent.body, *parent.orelse], asked)
        if not isinstance(parent, (ast.UnaryOp, ast.BoolOp, ast.Compare)):
            return False
        node = parent
    return False


def _mentions(parts: Sequence[ast.AST], name: str) -> bool:
    return any(isinstance(n, ast.expr) and spelled(n) == name for part in parts for n in nodes_in(part))


def _around(statement: ast.stmt, node: ast.AST) -> list[ast.AST]:
    """What stands around an expression in its statement, innermost first; nothing where it stands elsewhere."""
    for child in children_of(statement):
        if child is node:
            return [statement]
        if not isinstance(child, ast.stmt) and (found := _in_expression(child, node)):
            return [*found, statement]
    return []


def _in_expression(at: ast.AST, node: ast.AST) -> list[ast.AST]:
    for child in children_of(at):
        if child is node:
            return [at]
        if found := _in_expression(child, node):
            return [*found, at]
    return []


def _is_asked(node: ast.AST, around: list[ast.AST]) -> bool:
    """`x.grad_fn is None`, `if x.grad_fn:`, `bool(x.grad_fn)`."""
    for parent in around:
        if isinstance(parent, ast.Compare):
            return all(isinstance(op, NAMELESS) for op in parent.ops)
        if isinstance(parent, ast.UnaryOp):
            return isinstance(parent.op, ast.Not)
        if isinstance(parent, (ast.If, ast.While, ast.IfExp, ast.Assert)):
            return parent.test is node
        if isinstance(parent, ast.Call):
            return _is_given_to(parent, node, frozenset({"bool"}))
        if not isinstance(parent, ast.BoolOp):
            return False
        node = parent
    return False


def _is_shown(node: ast.AST, around: list[ast.AST]) -> bool:
    """`print(x.grad_fn.next_functions[0][0])`, `x.grad_fn.name()`, and a node as the last line of a cell."""
    for parent in around:
        if isinstance(parent, ast.Call):
            is_named = parent.func is node and isinstance(node, ast.Attribute) and node.attr in NAMING
            return is_named or _is_given_to(parent, node, SHOWING) or _is_put_into_text(parent)
        if isinstance(parent, ast.BinOp):
            return isinstance(parent.op, ast.Mod) and _is_text(parent.left)
        if not _leads_on(parent, node):
            return isinstance(parent, (ast.FormattedValue, ast.Expr))
        node = parent
    return False


def _is_put_into_text(call: ast.Call) -> bool:
    """`"{}".format(node)`, `logging.info("%s", node)` and `logger.debug(...)`."""
    if not isinstance(call.func, ast.Attribute):
        return False
    this, name = call.func.value, call.func.attr
    return (name == "format" and _is_text(this)) or (name in LOGGING and "log" in last_word(this).lower())


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _leads_on(parent: ast.AST, node: ast.AST) -> bool:
    if isinstance(parent, ast.Attribute):
        return parent.attr in LEADING
    if isinstance(parent, (ast.Tuple, ast.List, ast.Dict)):
        return True
    if isinstance(parent, ast.ListComp):
        return parent.elt is node
    return isinstance(parent, ast.Subscript) and parent.value is node


def _is_given_to(call: ast.Call, node: ast.AST, names: frozenset[str]) -> bool:
    return isinstance(call.func, ast.Name) and call.func.id in names and node in call.args
