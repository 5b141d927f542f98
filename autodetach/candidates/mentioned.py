"""Where an attribute is mentioned, and what is done to it there."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.called_inside import is_of_another_class
from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word
from autodetach.view.program import Program, place_text

TAKING = frozenset("pop popitem popleft setdefault".split())
BY_NAME = frozenset("setattr delattr register_buffer register_parameter".split())


def mentions(program: Program, cls: ast.ClassDef, name: str) -> Iterator[ast.Attribute]:
    """Where an attribute of this name is mentioned, which may be that of the class."""
    own = program.file_of(cls)
    for tree in program.analysis.trees:
        named = (n for n in walk(tree) if isinstance(n, ast.Attribute) and n.attr == name)
        yield from (n for n in named if tree is not own or not is_of_another_class(program, n, cls.body[0]))


def is_named_otherwise(program: Program, cls: ast.ClassDef, name: str) -> bool:
    """Whether a class has a method or variable of this name, or something is set by it as a string."""
    for tree in program.analysis.trees:
        for node in walk(tree):
            if isinstance(node, ast.Call) and last_word(node.func) in BY_NAME:
                if any(isinstance(a, ast.Constant) and a.value == name for a in node.args):
                    return True
            elif isinstance(node, ast.FunctionDef) and node.name == name:
                return True
    return any(name in program.names_bound(s) for s in cls.body if not isinstance(s, ast.FunctionDef))


def is_changed(program: Program, mention: ast.Attribute) -> bool:
    """`self.x[0] = 1`, `self.x.add_(1)`, `self.x.data`, `self.x.append(1)` for itself, `next(self.x)`."""
    at: ast.AST = mention
    around = program.parents.get(at)
    while isinstance(around, ast.Subscript) and around.value is at and isinstance(around.ctx, ast.Load):
        at, around = around, program.parents.get(around)
    if isinstance(around, ast.Call):
        return isinstance(around.func, ast.Name) and around.func.id == "next"
    if not isinstance(around, (ast.Attribute, ast.Subscript)) or around.value is not at:
        return False
    if isinstance(around, ast.Subscript) or not isinstance(around.ctx, ast.Load):
        return not isinstance(around.ctx, ast.Load)
    is_alone = isinstance(program.parents.get(program.parents[around]), ast.Expr)
    return is_alone or around.attr.endswith("_") or around.attr in ("data", "grad") or around.attr in TAKING


def methods_called(value: ast.AST, part: ast.Name) -> Iterator[str]:
    """What is called that begins with a part of an expression: `x.exp` and `x.exp().mul` of `x.exp().mul(2)`."""
    for call in ast.walk(value):
        func = call.func if isinstance(call, ast.Call) else None
        inner = func
        while isinstance(inner, (ast.Attribute, ast.Call, ast.Subscript)):
            inner = inner.func if isinstance(inner, ast.Call) else inner.value
        if func is not None and inner is part:
            yield place_text(func)
