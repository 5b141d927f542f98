"""Settings that stand in a file as constants: `config = {"model": "plain"}`, `class Config: use_critic = False`.

Who trains another way writes another one there. Which ones there are is told by the tests that compare them.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.oracle import Written

WORDS = frozenset(
    """
    args arguments cfg conf config configs configuration flags hp hps hparams hyperparameters hyperparams opt options
    opts parameters params settings
    """.split()
)
"""Words of the names of what holds settings."""
PARTS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
DEEP = 3
"""Levels of settings in settings."""
COMPARISONS = (ast.Eq, ast.NotEq, ast.In, ast.NotIn)
Stored = ast.Assign | ast.AnnAssign


class Entry(NamedTuple):
    """An entry of settings, its constant, and the statement that stores it, by itself or with others.

    `path`: the keys that lead from what the statement stores to the entry.
    """

    setting: tuple[str, ...]
    default: str | bool | int
    statement: Stored
    path: tuple[str, ...] = ()


@kept
def written_settings(tree: ast.Module) -> tuple[Entry, ...]:
    """The entries that a file sets to constants, once each, by statements of its body or of its classes."""
    found = [entry for statement in _body(tree.body) for entry in _stored(statement)]
    if not found:
        return ()
    own = {id(entry.statement) for entry in found}
    again = {name for node in nodes_in(tree) if id(node) not in own for name in _names_stored(node)}
    settings = [entry.setting for entry in found]
    return tuple(e for e in found if settings.count(e.setting) == 1 and e.setting[-1] not in again)


def is_of_settings(name: str) -> bool:
    """Whether something of this name holds settings: `config`, `TRAIN_OPTIONS`, `ModelConfig`."""
    return any(part.lower() in WORDS for part in PARTS.findall(name))


def others_than(entry: Entry, test: ast.If) -> Iterator[Written]:
    """The entry as it may be written too, by what an `if`, and those that are its `elif`, ask of it."""
    asked = list(_asked(test, entry.setting[-1]))
    if not asked:
        return
    if isinstance(entry.default, bool):
        yield Written(entry.setting, not entry.default)
        return
    for value in dict.fromkeys(asked):
        if type(value) is type(entry.default) and value != entry.default:
            yield Written(entry.setting, value)


def _body(block: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of a file that are in no function, nor in a class that holds no settings."""
    for statement in block:
        if isinstance(statement, ast.If):
            yield from _body((*statement.body, *statement.orelse))
        elif isinstance(statement, Stored) or (isinstance(statement, ast.ClassDef) and is_of_settings(statement.name)):
            yield statement


def _stored(statement: ast.stmt) -> Iterator[Entry]:
    if isinstance(statement, ast.ClassDef):
        for inner in statement.body:
            target = _target(inner)
            if isinstance(inner, Stored) and isinstance(target, ast.Name) and inner.value is not None:
                yield from _constants(inner.value, (statement.name, target.id), (), inner)
        return
    target = _target(statement)
    if not isinstance(statement, Stored) or statement.value is None or target is None:
        return
    setting = _chain(target)
    if setting and is_of_settings(setting[0]):
        yield from _constants(statement.value, setting, (), statement)


def _target(statement: ast.stmt) -> ast.expr | None:
    if isinstance(statement, ast.Assign):
        return statement.targets[0] if len(statement.targets) == 1 else None
    return statement.target if isinstance(statement, ast.AnnAssign) else None


def _constants(value: ast.expr, setting: tuple[str, ...], path: tuple[str, ...], statement: Stored) -> Iterator[Entry]:
    """The constants that a value is, or holds."""
    if isinstance(value, ast.Constant):
        if isinstance(value.value, (str, bool, int)) and len(setting) > 1:
            yield Entry(setting, value.value, statement, path)
    elif len(setting) <= DEEP:
        for name, part in _parts(value):
            yield from _constants(part, (*setting, name), (*path, name), statement)


def _parts(value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """`{"a": ...}`, `dict(a=...)`, `SimpleNamespace(a=...)`."""
    if isinstance(value, ast.Dict):
        for key, part in zip(value.keys, value.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                yield key.value, part
    elif isinstance(value, ast.Call) and not value.args:
        yield from ((k.arg, k.value) for k in value.keywords if k.arg is not None)


def _chain(node: ast.expr) -> tuple[str, ...]:
    """`("cfg", "train", "kind")` of `cfg.train["kind"]`."""
    if isinstance(node, ast.Name):
        return (node.id,)
    if isinstance(node, (ast.Attribute, ast.Subscript)):
        name, before = _own_name(node), _chain(node.value)
        return (*before, name) if name and before else ()
    return ()


def _own_name(node: ast.AST) -> str:
    """The name by which an attribute, an element or a variable is asked for."""
    if isinstance(node, ast.Attribute):
        return node.attr
    if isinstance(node, ast.Subscript):
        key = node.slice
        return key.value if isinstance(key, ast.Constant) and isinstance(key.value, str) else ""
    return node.id if isinstance(node, ast.Name) else ""


def _names_stored(node: ast.AST) -> Iterator[str]:
    """The entries of settings that a statement stores."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AugAssign) else []
    for target in targets:
        chain = _chain(target)
        if len(chain) > 1 and any(map(is_of_settings, chain[:-1])):
            yield chain[-1]


def _asked(test: ast.If, name: str) -> Iterator[object]:
    """The constants with which an entry is compared by an `if` and its `elif`s, or True where its truth is asked."""
    at: ast.stmt | None = test
    while isinstance(at, ast.If):
        for node in nodes_in(at.test):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], COMPARISONS):
                sides = (node.left, node.comparators[0])
                for this, other in (sides, sides[::-1]):
                    if _reads(this, name):
                        yield from _constants_of(other)
            elif _reads(node, name):
                yield True
        at = at.orelse[0] if len(at.orelse) == 1 else None


def _reads(node: ast.AST, name: str) -> bool:
    """Whether an entry of settings, or a variable or an attribute of `self` of its name, is read."""
    if _own_name(node) != name:
        return False
    before = _chain(node.value) if isinstance(node, (ast.Attribute, ast.Subscript)) else ()
    return isinstance(node, ast.Name) or before == ("self",) or any(map(is_of_settings, before))


def _constants_of(other: ast.expr) -> Iterator[object]:
    """What is compared with: a constant, or the first of those that it may be."""
    if isinstance(other, (ast.Tuple, ast.List, ast.Set)):
        yield from (e.value for e in other.elts[:1] if isinstance(e, ast.Constant))
    elif isinstance(other, ast.Constant):
        yield other.value
