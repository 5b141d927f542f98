"""States of unknown type that the program begins as something that is no tensor: `states = {}`, `hidden = (h, c)`."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word, spelled
from autodetach.machine.values import Opaque, Value
from autodetach.view.program import Program

DISPLAYS = (ast.Dict, ast.DictComp, ast.GeneratorExp, ast.JoinedStr, ast.List, ast.ListComp, ast.Set, ast.SetComp)
MAKERS = frozenset("Counter OrderedDict defaultdict deque dict frozenset list set tuple".split())


def may_be_no_tensor(program: Program, place: ast.AST, text: str, value: Value) -> bool:
    """Whether nobody knows of which type a value is, and what holds it, at a place, is begun as no tensor there."""
    if not isinstance(value, Opaque):
        return False
    scope = program.scope(place) if text.isidentifier() else program.file_of(place)
    return any(_is_no_tensor(given) for given in _given(scope, text))


def _given(scope: ast.AST, text: str) -> Iterator[ast.expr]:
    """What is assigned to a name, or to an attribute that is written alike."""
    for node in walk(scope):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                yield from _of_target(target, node.value, text)
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            yield from _of_target(node.target, node.value, text)


def _of_target(target: ast.expr, value: ast.expr, text: str) -> Iterator[ast.expr]:
    """`{}` of `states, total = {}, 0`."""
    if isinstance(target, (ast.Tuple, ast.List)):
        if isinstance(value, (ast.Tuple, ast.List)) and len(value.elts) == len(target.elts):
            for part, given in zip(target.elts, value.elts, strict=True):
                yield from _of_target(part, given, text)
    elif spelled(target) == text:
        yield value


def _is_no_tensor(value: ast.expr) -> bool:
    if isinstance(value, ast.Constant):
        return value.value is not None
    if isinstance(value, ast.IfExp):
        return _is_no_tensor(value.body) or _is_no_tensor(value.orelse)
    if isinstance(value, ast.Call):
        return isinstance(value.func, (ast.Name, ast.Attribute)) and last_word(value.func) in MAKERS
    return isinstance(value, (*DISPLAYS, ast.Tuple))
