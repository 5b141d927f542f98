"""Whether a copy of a tensor is changed in place, or what it is a copy of, so that both must not be one tensor."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.candidates.made import is_new
from autodetach.machine.children import targets_of, walk
from autodetach.machine.spelling import last_word, spelled
from autodetach.view.handed_on import is_sharing
from autodetach.view.meant_values import HARMLESS
from autodetach.view.program import Program, line, parts_of

APART = "what is changed in place was a copy: the tensor that it was made of would change, too"


def is_changed_apart(program: Program, copy: ast.expr, whole: ast.expr) -> bool:
    """Whether one of both, a copy or the `whole` that it is made of, is changed in place behind that."""
    if is_new(program, whole):
        return False
    names = set(_names(program, copy))
    if None in names:
        return True
    named = (n for n in ast.walk(whole) if isinstance(n, (ast.Name, ast.Attribute)))
    names |= {spelled(n) for n in named if not isinstance(program.parents.get(n), ast.Attribute)}
    changed = (one for node in walk(program.scope(copy)) if line(node) >= line(copy) for one in _changed(node))
    return any(_is_one_of(one, names) for one in changed)


def _names(program: Program, copy: ast.expr) -> Iterator[str | None]:
    """What a copy is bound to; None where it is changed at once, `torch.tensor(x).mul_(2)`."""
    at: ast.AST = copy
    around = program.parents.get(at)
    while isinstance(around, (ast.Attribute, ast.Subscript)) or (isinstance(around, ast.Call) and around.func is at):
        if isinstance(around, ast.Attribute) and not is_sharing(around.attr):
            if _is_in_place(around.attr):
                yield None
            return
        at, around = around, program.parents.get(around)
    if isinstance(around, (ast.Assign, ast.AnnAssign, ast.NamedExpr)):
        for target in targets_of(around) if isinstance(around, ast.stmt) else [around.target]:
            yield from (spelled(part) for part in parts_of(target))


def _changed(node: ast.AST) -> Iterator[ast.expr]:
    """What a piece of the program changes in place, as far as its text tells."""
    if isinstance(node, ast.AugAssign):
        yield node.target
    elif isinstance(node, ast.Assign):
        parts = (part for target in node.targets for part in parts_of(target))
        yield from (part.value for part in parts if isinstance(part, ast.Subscript))
    elif isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and _is_in_place(node.func.attr):
            yield node.func.value
        given = [k for k in node.keywords if isinstance(k.value, ast.Constant) and k.value.value is True]
        if any(k.arg == "inplace" for k in given) or _is_in_place(last_word(node.func)):
            yield from node.args[:1]
        yield from (k.value for k in node.keywords if k.arg == "out")


def _is_in_place(method: str) -> bool:
    return method.endswith("_") and not method.endswith("__") and method not in HARMLESS


def _is_one_of(changed: ast.expr, names: Collection[str | None]) -> bool:
    """Whether `loss`, `loss.data` or `loss[mask]` is changed, or a view of it."""
    while spelled(changed) not in names:
        if isinstance(changed, (ast.Attribute, ast.Subscript)):
            changed = changed.value
        elif isinstance(changed, ast.Call):
            changed = changed.func
        else:
            return False
    return True
