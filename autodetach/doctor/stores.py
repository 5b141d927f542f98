"""Which statements put something into a holder: read off the source, by its last name."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from autodetach.doctor.frames import Site
from autodetach.doctor.holders import Binding
from autodetach.doctor.places import CELLS, cell_name
from autodetach.doctor.reading import tree_of, walk
from autodetach.machine.spelling import arguments_of, spelled

FILLS = frozenset(
    "append appendleft extend extendleft insert add update setdefault put push put_nowait register_buffer".split()
)

TAKES_NOTHING = frozenset(("zero_", "detach_", "requires_grad_", "fill_", "normal_", "uniform_", "share_memory_"))
"""Methods in place after which a tensor has no more history than before."""


def stores(binding: Binding, files: Iterable[str] = ()) -> tuple[Site, ...]:
    """The statements that store into what `binding` names, those inside loops first; its initial value is none.

    What is reached through an attribute may be stored by methods in other `files`.
    """
    name = last_name(binding.path)
    attribute = name != binding.root and f" {name}>" not in binding.path
    found: list[tuple[int, Site]] = []
    if not attribute:
        files = [file for file in files if cell_name(file)] if binding.file == CELLS else []
    for file in dict.fromkeys((binding.file, *files)):
        tree = tree_of(file)
        for node, function, depth in walk(tree) if tree is not None else ():
            if _stores_into(node, name, attribute) and (not _is_local(binding) or function == binding.function):
                found.append((-depth, Site(file, getattr(node, "lineno", 1), function)))
    return tuple(dict.fromkeys(site for _, site in sorted(found, key=lambda one: (one[0], one[1].line))))


def hands_over(names: Iterable[Binding]) -> tuple[Site, ...]:
    """The statements that are nothing but a call which is given one of these variables."""
    found: list[Site] = []
    for binding in sorted(names, key=lambda name: (name.file, name.path)):
        tree = tree_of(binding.file) if binding.path.isidentifier() else None
        for node, function, _ in walk(tree) if tree is not None else ():
            call = node.value if isinstance(node, ast.Expr) else None
            if isinstance(call, ast.Call) and function == binding.function:
                given = arguments_of(call)
                if any(isinstance(each, ast.Name) and each.id == binding.path for each in given):
                    found.append(Site(binding.file, call.lineno, function))
    return tuple(dict.fromkeys(found))


def last_name(path: str) -> str:
    """`losses` of `losses`, `history` of `self.history['loss']`, `sum` of `self.stats['loss'].sum`."""
    return re.sub(r"\[[^]]*\]|\{[^}]*\}|\.<in \w+>", "", path).rstrip(".").split(".")[-1].strip("<>").split(" ")[-1]


def _is_local(binding: Binding) -> bool:
    return "." not in binding.path.split("[")[0] and bool(binding.function)


def _stores_into(node: ast.AST, name: str, attribute: bool) -> bool:
    if isinstance(node, ast.AugAssign):
        return _named(node.target, name, attribute)
    if isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        flat = [each for target in targets for each in _flat(target)]
        return any(_named(target, name, attribute) for target in flat) and not _is_initial(node.value)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and _fills(node.func.attr):
        return _named(node.func.value, name, attribute)
    return False


def _fills(method: str) -> bool:
    """Whether a method of this name puts something into its object: a container's, or one of a tensor in place."""
    return method in FILLS or (method.endswith("_") and not method.endswith("__") and method not in TAKES_NOTHING)


def _flat(target: ast.expr) -> Iterator[ast.expr]:
    if isinstance(target, (ast.Tuple, ast.List)):
        for each in target.elts:
            yield from _flat(each)
    else:
        yield target


def _named(node: ast.AST, name: str, attribute: bool) -> bool:
    while isinstance(node, ast.Subscript):
        node = node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return _named(node.func.value, name, attribute)  # d.setdefault(k, []).append(v)
    if isinstance(node, ast.Name):
        return node.id == name and not attribute
    return isinstance(node, ast.Attribute) and node.attr == name


def _is_initial(value: ast.expr) -> bool:
    """An empty or a plain value, with which a holder begins."""
    if isinstance(value, (ast.Constant, ast.UnaryOp)):
        return True
    if isinstance(value, (ast.List, ast.Tuple, ast.Set)):
        return all(_is_initial(each) for each in value.elts)
    if isinstance(value, ast.Dict):
        return all(_is_initial(each) for each in value.values)
    if not isinstance(value, ast.Call) or value.args or value.keywords:
        return False
    # `Meter()`, `collections.deque()`; `losses.sum()` has a value of its own.
    return isinstance(value.func, ast.Name) or spelled(value.func).startswith("collections.")
