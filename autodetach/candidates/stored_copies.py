"""A container, or an object that is filled, is stored with the graphs of what is in it: a copy goes in without them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.candidates.changed_later import changed_later
from autodetach.candidates.detaching import has_graph, structural
from autodetach.candidates.extending import DETACHED_DICT
from autodetach.machine.children import walk
from autodetach.machine.held import graph_in
from autodetach.machine.program_values import Instance
from autodetach.machine.spelling import spelled
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value
from autodetach.suspect import Candidate
from autodetach.view.program import Program, text

if TYPE_CHECKING:
    from autodetach.codemods import Codemod


def copied_whole(program: Program, element: ast.expr, value: Value) -> Iterator[Candidate]:
    """A container that is used elsewhere too: a copy of it with detached tensors is stored."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    new = structural("{}", value)
    if is_mixed(value) and program.imports_torch(element):
        new = DETACHED_DICT
        if isinstance(value, Sequence):
            each = "v.detach() if torch.is_tensor(v) else v for v in {}"
            new = f"tuple({each})" if value.kind == "tuple" else f"[{each}]"
    if new is not None and (new.count("{}") == 1 or not isinstance(element, ast.Call)):
        doubt = None if has_graph(value) else changed_later(program, element)
        yield Candidate(f"store a detached copy of `{text(element)}`", (ReplaceExpression(element, new),), doubt)


def is_mixed(value: Value) -> bool:
    """Whether a dict, tuple or list has tensors in it, and other values without graph, or may have such."""
    if isinstance(value, Mapping):
        others = [v for _, v in value.items.values() if not isinstance(v, (Tensor, Opaque))]
        return (not value.items or bool(others)) and not any(any(graph_in(v)) for v in others)
    if not isinstance(value, Sequence) or value.kind not in ("tuple", "list"):
        return False
    others = [v for v in value.items if not (isinstance(v, Tensor) or (isinstance(v, Opaque) and v.node is not None))]
    return bool(others) and not any(any(graph_in(v)) for v in others)


def filled_without_graph(program: Program, element: ast.expr, value: Value) -> Iterator[Candidate]:
    """Of an object that is filled where it is stored (`stats.loss = loss`), what has history goes in without."""
    from autodetach.codemods.append_method import AppendMethod
    from autodetach.codemods.replace_expression import ReplaceExpression

    if not isinstance(value, Instance) or not isinstance(element, ast.Name):
        return
    codemods: list[Codemod] = []
    for name, held in value.attrs.items():
        if next(graph_in(held), None) is None:
            continue
        written = list(_written(program.scope(element), element.id, name))
        if not written:
            return
        for e in written:
            new = structural(_copied(e) or "{}", held)
            if new is None or new.count("{}") > 1:
                return
            codemods.append(AppendMethod(e, "detach") if has_graph(held) else ReplaceExpression(e, new))
    if codemods:
        yield Candidate(f"fill `{text(element)}` with values without their graph", tuple(codemods))


def _copied(expression: ast.expr) -> str | None:
    """`buffer.losses` of `list(buffer.losses)`."""
    if isinstance(expression, ast.Call) and spelled(expression.func) in ("list", "tuple") and len(expression.args) == 1:
        (copied,) = expression.args
        return spelled(copied) if isinstance(copied, (ast.Name, ast.Attribute)) else None
    return None


def _written(scope: ast.AST, name: str, attribute: str) -> Iterator[ast.expr]:
    """What a function assigns to an attribute of a variable."""
    for statement in walk(scope):
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            (target,) = statement.targets
            if spelled(target) == f"{name}.{attribute}":
                yield statement.value
