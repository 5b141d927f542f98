"""The words of what a file sets again while it runs, by names, attributes, elements, and copies with something else."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator

from autodetach.container_methods import CHANGING
from autodetach.kept import kept
from autodetach.machine.children import nodes_in, walk
from autodetach.machine.spelling import last_word
from autodetach.node_types import LOOPS
from autodetach.once import once
from autodetach.view.by_name import is_namespace
from autodetach.view.program import Program

OWN = frozenset({"self", "cls"})
SETTING = frozenset({"__setattr__", "setattr"})
COPYING = frozenset({"_replace", "dict", "evolve", "replace"})
"""What copies what it is given, or its object, with other elements or attributes."""


@once
def changed_in_view(program: Program) -> frozenset[str]:
    return frozenset().union(*map(_changed_in, program.analysis.trees))


@kept
def _changed_in(tree: ast.AST) -> frozenset[str]:
    """The words that a file sets more than once, in a loop, by what they are, or as `global`, or fills, or empties."""
    stored: Counter[str] = Counter()
    changed: set[str] = set()
    for node in walk(tree):
        stored.update(_stored_by(node))
        if isinstance(node, ast.AugAssign):
            changed.add(word_of(node.target))
        elif isinstance(node, (ast.Global, ast.Nonlocal)):
            changed.update(node.names)
        elif isinstance(node, LOOPS):
            changed.update(word for inner in nodes_in(node) for word in _stored_by(inner))
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGING:
            changed.add(word_of(node.func.value))
        changed.update(word_of(base) for base, values in _copied_by(node) if _is_counted(base, values))
    return frozenset(changed | {word for word, times in stored.items() if times > 1}) - OWN - {""}


def word_of(target: ast.expr) -> str:
    """`left` of `left[0]`, of `self.left`, and of `vars(self)["left"]`."""
    while isinstance(target, ast.Subscript):
        if is_namespace(target.value) and isinstance(target.slice, ast.Constant):
            return str(target.slice.value)
        target = target.value
    return last_word(target)


def _stored_by(node: ast.AST) -> Iterator[str]:
    """The word that is set where a node stands, or those: `setattr(self, "left", 0)`, `vars(self).update(left=0)`."""
    if isinstance(node, (ast.Name, ast.Attribute, ast.Subscript)) and not isinstance(node.ctx, ast.Load):
        yield word_of(node)
    elif isinstance(node, ast.Call) and last_word(node.func) in SETTING:
        texts = (a.value for a in node.args[:2] if isinstance(a, ast.Constant))
        yield from (text for text in texts if isinstance(text, str))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and is_namespace(node.func.value):
        given = (key for a in node.args if isinstance(a, ast.Dict) for key in a.keys if isinstance(key, ast.Constant))
        yield from (str(key.value) for key in given)
        yield from (keyword.arg for keyword in node.keywords if keyword.arg is not None)


def _copied_by(node: ast.AST) -> Iterator[tuple[ast.expr, list[ast.expr]]]:
    """What an expression copies, and what it puts in the place of elements or attributes."""
    if isinstance(node, ast.Dict):
        values = [value for key, value in zip(node.keys, node.values, strict=True) if key is not None]
        yield from ((value, values) for key, value in zip(node.keys, node.values, strict=True) if key is None)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and isinstance(node.right, ast.Dict):
        yield node.left, node.right.values
    elif isinstance(node, ast.Call) and last_word(node.func) in COPYING:
        bases = node.args or ([node.func.value] if isinstance(node.func, ast.Attribute) else [])
        yield from ((base, [keyword.value for keyword in node.keywords]) for base in bases[:1])


def _is_counted(base: ast.expr, values: list[ast.expr]) -> bool:
    """Whether something new is computed with what it is instead of: else it is a setting, which is made once."""
    computed = (n for value in values for n in nodes_in(value) if isinstance(n, (ast.BinOp, ast.UnaryOp)))
    named = (n for value in computed for n in nodes_in(value) if isinstance(n, (ast.Name, ast.Attribute)))
    return word_of(base) in map(last_word, named)
