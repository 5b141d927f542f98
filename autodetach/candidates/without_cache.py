"""A transform that is asked for the same parameter in every pass is made without a cache: it computes anew then."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TYPE_CHECKING

from autodetach.machine.children import walk
from autodetach.machine.graph import Node
from autodetach.machine.spelling import last_word
from autodetach.node_types import FUNCTIONS
from autodetach.view.program import Program

if TYPE_CHECKING:
    from autodetach.codemods import Codemod

EXACT = "who inverts what a transform has given may need its cache, which gives back what it was given"


def without_cache(program: Program, makers: list[Node]) -> Iterator[tuple[str, tuple[Codemod, ...], str | None]]:
    """`ExpTransform(cache_size=1)` becomes `ExpTransform()`, where that has made all that crosses into a pass.

    So does the default of a parameter that says how large the cache is. What is handed to a distribution is asked for
    what that draws, and may keep its cache. Each repair comes with what speaks against it, or None.
    """
    from autodetach.codemods.replace_expression import ReplaceExpression
    from autodetach.codemods.set_keyword import SetKeyword

    kinds = {maker.op for maker in makers}
    if not kinds or not all(kind.endswith("Transform") for kind in kinds):
        return
    files = {program.file_of(maker.site.node) for maker in makers}
    calls = [n for file in files for n in walk(file) if isinstance(n, ast.Call) and last_word(n.func) in kinds]
    is_inverted = any(isinstance(n, ast.Attribute) and n.attr == "inv" for file in files for n in walk(file))
    are_several = len({last_word(call.func) for call in calls}) < len(calls)
    codemods: dict[ast.AST, Codemod] = {}
    for call in calls:
        size = next((k.value for k in call.keywords if k.arg == "cache_size"), None)
        if isinstance(program.parents.get(call), (ast.List, ast.Call)):
            continue
        if _is_one(size):
            codemods[call] = SetKeyword(call, "cache_size", None)
        elif (default := _default_of(program, size)) is not None and _is_one(default):
            codemods[default] = ReplaceExpression(default, "0")
    if codemods:
        shown = ", ".join(f"`{kind}`" for kind in sorted(kinds))
        yield f"make {shown} without a cache", tuple(codemods.values()), EXACT if is_inverted or are_several else None


def _is_one(size: ast.expr | None) -> bool:
    return isinstance(size, ast.Constant) and size.value == 1


def _default_of(program: Program, size: ast.expr | None) -> ast.expr | None:
    """What the function around gives a parameter if its caller does not."""
    function = program.scope(size) if isinstance(size, ast.Name) else None
    if not isinstance(size, ast.Name) or not isinstance(function, FUNCTIONS):
        return None
    spec = function.args
    by_position = [*spec.posonlyargs, *spec.args]
    last = by_position[len(by_position) - len(spec.defaults) :]
    pairs = (*zip(last, spec.defaults, strict=True), *zip(spec.kwonlyargs, spec.kw_defaults, strict=True))
    return next((default for parameter, default in pairs if parameter.arg == size.id), None)
