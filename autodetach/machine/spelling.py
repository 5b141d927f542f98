"""The text of a syntax node, as `ast` writes it; kept with the tree, which outlives many runs and rules."""

from __future__ import annotations

import ast


def spelled(node: ast.AST) -> str:
    """The text of an expression or a statement; of anything else, the name of its kind."""
    known: str | None = getattr(node, "_spelled", None)
    if known is None:
        known = ast.unparse(node) if isinstance(node, (ast.expr, ast.stmt)) else type(node).__name__
        setattr(node, "_spelled", known)  # noqa: B010 - syntax trees have no such field
    return known
