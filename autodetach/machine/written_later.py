"""Names of a file under whose value something is written by keys that nobody knows: settings, read from a file.

`for k, v in read.items(): cfg[k] = v`, `setattr(cfg, name, value)`, `cfg.merge_from_file(path)`, and a function that
does so with its argument.
"""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import children_of
from autodetach.machine.spelling import last_word
from autodetach.named_tuples import NamedTuple
from autodetach.node_types import FUNCTIONS

MERGING = "merge"
"""How the methods begin by which settings take over others: `merge_from_file`, `merge_with`."""


class WrittenLater(NamedTuple):
    """The global names of what is written so, and the classes whose methods write so into their object."""

    names: frozenset[str] = frozenset()
    classes: frozenset[str] = frozenset()


class _Body(NamedTuple):
    """What a function, or the body of a file, writes into by itself, and the names that it hands on to others.

    Of a call: the word that is called, and the place or keyword of the argument.
    """

    parameters: list[str]
    written: set[str]
    handed: list[tuple[str, int | str, str]]


def is_merging(name: str) -> bool:
    """Whether a method of this name takes over what others have."""
    return name.startswith(MERGING) or name == "update"


@kept
def written_later(tree: ast.Module) -> WrittenLater:
    """What is written under unknown keys somewhere in a file."""
    functions: dict[str, _Body] = {}
    methods: list[tuple[str, _Body]] = []
    rest = _Body([], set(), [])
    _read(tree, rest, "", functions, methods)
    bodies = [rest, *functions.values(), *(body for _, body in methods)]
    if not any(body.written for body in bodies):
        return WrittenLater()
    changed = True
    while changed:
        changed = False
        for body in bodies:
            new = {name for called, place, name in body.handed if _writes(functions.get(called), place)}
            if not new <= body.written:
                body.written.update(new)
                changed = True
    names = {name for body in bodies for name in body.written if name not in body.parameters}
    classes = {cls for cls, body in methods if body.parameters and body.parameters[0] in body.written}
    return WrittenLater(frozenset(names), frozenset(classes))


def _writes(function: _Body | None, place: int | str) -> bool:
    """Whether a function writes into the argument at a place, or by a keyword."""
    if function is None:
        return False
    if isinstance(place, str):
        return place in function.parameters and place in function.written
    return place < len(function.parameters) and function.parameters[place] in function.written


def _read(node: ast.AST, body: _Body, cls: str, functions: dict[str, _Body], methods: list[tuple[str, _Body]]) -> None:
    for child in children_of(node):
        if isinstance(child, FUNCTIONS):
            spec = child.args
            inner = _Body([a.arg for a in (*spec.posonlyargs, *spec.args)], set(), [])
            if cls:
                methods.append((cls, inner))
            else:
                functions[child.name] = inner
            _read(child, inner, "", functions, methods)
        elif isinstance(child, ast.ClassDef):
            _read(child, body, child.name, functions, methods)
        else:
            if isinstance(child, ast.Assign):
                body.written.update(name for target in child.targets for name in _stored(target))
            elif isinstance(child, ast.Call):
                _read_call(child, body)
            _read(child, body, cls, functions, methods)


def _stored(target: ast.expr) -> list[str]:
    """`cfg[key] = value`."""
    if isinstance(target, ast.Subscript) and isinstance(target.value, ast.Name) and isinstance(target.slice, ast.Name):
        return [target.value.id]
    return []


def _read_call(call: ast.Call, body: _Body) -> None:
    word, args = last_word(call.func), call.args
    if word == "setattr" and len(args) == 3 and isinstance(args[0], ast.Name):
        if not isinstance(args[1], ast.Constant):
            body.written.add(args[0].id)
        return
    if isinstance(call.func, ast.Attribute):
        this = _object_of(call.func.value)
        if this and is_merging(word) and not (word == "update" and (not args or isinstance(args[0], ast.Dict))):
            body.written.add(this)
    if isinstance(call.func, ast.Name):
        body.handed.extend((word, n, arg.id) for n, arg in enumerate(args) if isinstance(arg, ast.Name))
        body.handed.extend((word, k.arg, k.value.id) for k in call.keywords if k.arg and isinstance(k.value, ast.Name))


def _object_of(node: ast.expr) -> str:
    """The name of the object in `cfg`, `cfg.__dict__` and `vars(cfg)`."""
    if isinstance(node, ast.Attribute) and node.attr == "__dict__":
        node = node.value
    elif isinstance(node, ast.Call) and last_word(node.func) == "vars" and len(node.args) == 1:
        node = node.args[0]
    return node.id if isinstance(node, ast.Name) else ""
