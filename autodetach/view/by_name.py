"""Functions, calls and mentions in view by the last words of their names, whatever these stand for."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.kept import kept
from autodetach.machine.children import nodes_in, walk
from autodetach.machine.spelling import last_word
from autodetach.node_types import FUNCTIONS, FunctionNode
from autodetach.once import once
from autodetach.view.program import Program

Functions = dict[str, list[FunctionNode]]
Mention = ast.Name | ast.Attribute | ast.Constant
NAMESPACES = frozenset({"__dict__", "globals", "locals", "vars"})
"""What gives names or attributes as the keys of a dictionary."""
LOOKING_UP = frozenset({"attrgetter", "getattr", "methodcaller"})


@once
def functions_in_view(program: Program) -> Functions:
    trees = [functions_of(tree) for tree in program.analysis.trees]
    return {name: [f for tree in trees for f in tree.get(name, ())] for name in set().union(*trees)}


@kept
def functions_of(tree: ast.AST) -> Functions:
    """The functions and methods of a file."""
    found: Functions = {}
    for node in walk(tree):
        if isinstance(node, FUNCTIONS):
            found.setdefault(node.name, []).append(node)
    return found


def calls_in_view(program: Program, name: str) -> Iterator[ast.Call]:
    """What may call a function or method."""
    return (call for tree in program.analysis.trees for call in _calls_of(tree).get(name, ()))


@kept
def _calls_of(tree: ast.AST) -> dict[str, list[ast.Call]]:
    found: dict[str, list[ast.Call]] = {}
    for node in walk(tree):
        if isinstance(node, ast.Call):
            found.setdefault(last_word(node.func), []).append(node)
    return found


def mentions_in_view(program: Program, word: str) -> Iterator[Mention]:
    """Where a name or attribute is read, called or not, or looked up by its text."""
    return (mention for tree in program.analysis.trees for mention in _mentions_of(tree).get(word, ()))


@kept
def _mentions_of(tree: ast.AST) -> dict[str, list[Mention]]:
    found: dict[str, list[Mention]] = {}
    for node in walk(tree):
        if isinstance(node, (ast.Name, ast.Attribute)) and isinstance(node.ctx, ast.Load):
            found.setdefault(last_word(node), []).append(node)
        for text in looked_up_by(node):
            found.setdefault(str(text.value), []).append(text)
    return found


def looked_up_by(node: ast.AST) -> Iterator[ast.Constant]:
    """What may be a name, as text: in `getattr(self, "heavy" if late else "plain")` and `globals()["heavy"]`."""
    places: list[ast.expr] = []
    if isinstance(node, ast.Call) and last_word(node.func) in LOOKING_UP:
        places = node.args[:2]
    elif isinstance(node, ast.Subscript) and is_namespace(node.value):
        places = [node.slice]
    inside = (inner for place in places for inner in nodes_in(place))
    return (inner for inner in inside if isinstance(inner, ast.Constant) and isinstance(inner.value, str))


def is_namespace(place: ast.expr) -> bool:
    return last_word(place.func if isinstance(place, ast.Call) else place) in NAMESPACES


def is_callee(program: Program, mention: Mention) -> bool:
    around = program.parents.get(mention)
    return isinstance(around, ast.Call) and around.func is mention
