"""A transform that is asked for the same parameter in every pass is made without a cache: it computes anew then."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.candidates.reads import Repair
from autodetach.machine.graph import Node
from autodetach.machine.spelling import last_word
from autodetach.view.program import Program, text


def without_cache(program: Program, makers: list[Node]) -> Iterator[Repair]:
    """`ExpTransform(cache_size=1)` becomes `ExpTransform()`, where that has made all that crosses into a pass.

    What is handed to a distribution is asked for what that draws, and may keep its cache.
    """
    from autodetach.codemods.set_keyword import SetKeyword

    kinds = {maker.op for maker in makers}
    if not kinds or not all(kind.endswith("Transform") for kind in kinds):
        return
    files = {program.file_of(maker.site.node) for maker in makers}
    calls = [n for file in files for n in ast.walk(file) if isinstance(n, ast.Call) and last_word(n.func) in kinds]
    caching = [c for c in calls if _has_cache(c) and not isinstance(program.parents.get(c), (ast.List, ast.Call))]
    if caching:
        codemods = tuple(SetKeyword(call, "cache_size", None) for call in caching)
        yield f"make {', '.join(f'`{text(call)}`' for call in caching)} without a cache", codemods


def _has_cache(call: ast.Call) -> bool:
    sizes = [k.value for k in call.keywords if k.arg == "cache_size"]
    return any(isinstance(size, ast.Constant) and size.value == 1 for size in sizes)
