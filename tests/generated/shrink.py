"""Makes a program that shows a disagreement as short as possible."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

BLOCKS = ("body", "orelse")


def shrink(source: str, still: Callable[[str], bool], tries: int = 400) -> str:
    """Leave out statements, whole blocks first, for as long as `still` holds."""
    best = source
    progress = True
    while progress:
        progress = False
        for candidate in candidates(best):
            tries -= 1
            if tries < 0:
                return best
            if still(candidate):
                best = candidate
                progress = True
                break
    return best


def candidates(source: str) -> Iterator[str]:
    """The program without one of its statements, or with one of its blocks opened; the last statements first."""
    places = [
        (number, name, at)
        for number, node in enumerate(ast.walk(ast.parse(source)))
        for name in BLOCKS
        for at in range(len(getattr(node, name, None) or []) if isinstance(getattr(node, name, None), list) else 0)
    ]
    for number, name, at in reversed(places):
        tree = ast.parse(source)
        node = list(ast.walk(tree))[number]
        block = getattr(node, name)
        removed = block.pop(at)
        if not block and name == "body":
            if isinstance(removed, ast.Pass):
                continue
            block.append(ast.Pass())
        yield ast.unparse(tree)
        if isinstance(removed, (ast.If, ast.With)):
            block[at : at + 1] = [*removed.body, *block[at : at + 1]]
            yield ast.unparse(tree)
