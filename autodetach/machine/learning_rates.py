"""Whether an optimizer may be told to leave some of its parameters as they are: by a rate of zero, a schedule.

What trains nothing is meant to then. Only words are looked at, so this answers for programs that are in view wholly.
"""

from __future__ import annotations

import ast
from collections import Counter, defaultdict
from collections.abc import Iterator

from autodetach.machine.children import walk
from autodetach.machine.spelling import last_word
from autodetach.machine.star_names import OF_OPTIM

RATE = "lr"
GROUP = "params"
SCHEDULES = "lr_scheduler"


def may_stand_still(tree: ast.Module) -> bool:
    """Whether a rate is zero; where there are several, or groups of parameters, also if one is unknown, or changes."""
    values = _Values(tree)
    rates = list(_rates(tree))
    are_zero = [values.is_zero(rate) for rate in rates]
    if True in are_zero:
        return True
    optimizers = [n for n in walk(tree) if isinstance(n, ast.Call) and last_word(n.func) in OF_OPTIM]
    if len(optimizers) < 2 and len(rates) < 2 and not any(_makes_group(n) for n in walk(tree)):
        return False
    return None in are_zero or any(_mentions(n, SCHEDULES) for n in walk(tree))


def _rates(tree: ast.Module) -> Iterator[ast.expr]:
    for node in walk(tree):
        match node:
            case ast.keyword(arg=name, value=value) if name == RATE:
                yield value
            case ast.Dict(keys=keys, values=values):
                yield from (v for k, v in zip(keys, values, strict=True) if _is_text(k, RATE))
            case ast.Assign(targets=[ast.Subscript(slice=key)], value=value) if _is_text(key, RATE):
                yield value
            case ast.Call(func=called, args=[_, rate, *_]) if last_word(called) in OF_OPTIM:
                yield rate


class _Values:
    """What each name of a program is bound to, as far as it is written."""

    def __init__(self, tree: ast.Module) -> None:
        self._bound = Counter(n.id for n in walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
        self._given = {n.arg for n in walk(tree) if isinstance(n, ast.arg)}
        self._written: defaultdict[str, list[ast.expr]] = defaultdict(list)
        for node in walk(tree):
            for target, value in _assigned(node):
                if isinstance(target, ast.Name):
                    self._written[target.id].append(value)

    def is_zero(self, rate: ast.expr) -> bool | None:
        """Whether a number is zero, or a name of which all values are written; None where nobody knows."""
        if isinstance(rate, ast.Constant):
            return rate.value == 0
        if not isinstance(rate, ast.Name):
            return None
        values = self._written.get(rate.id, ())
        if rate.id in self._given or not values or len(values) < self._bound[rate.id]:
            return None
        known = {value.value == 0 if isinstance(value, ast.Constant) else None for value in values}
        return True if True in known else None if None in known else False


def _assigned(node: ast.AST) -> Iterator[tuple[ast.expr, ast.expr]]:
    if isinstance(node, ast.Assign):
        yield from ((target, node.value) for target in node.targets)
    elif isinstance(node, ast.AnnAssign) and node.value is not None:
        yield node.target, node.value


def _makes_group(node: ast.AST) -> bool:
    if isinstance(node, ast.Dict):
        return any(_is_text(key, GROUP) for key in node.keys)
    return _mentions(node, "add_param_group") or (isinstance(node, ast.keyword) and node.arg == GROUP)


def _mentions(node: ast.AST, word: str) -> bool:
    if isinstance(node, ast.ImportFrom):
        return (node.module or "").rpartition(".")[2] == word
    if isinstance(node, ast.alias):
        return node.name.rpartition(".")[2] == word
    return isinstance(node, ast.Attribute) and node.attr == word


def _is_text(node: ast.expr | None, text: str) -> bool:
    return isinstance(node, ast.Constant) and node.value == text
