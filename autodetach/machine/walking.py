"""Whether something in a program looks like a differentiation."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.spelling import called_name
from autodetach.machine.words import DIFFERENTIATIONS

WALKING = DIFFERENTIATIONS | {"grad"}


@kept
def differentiates(node: ast.AST) -> bool:
    """Whether a call in it has the name of what differentiates."""
    return any(isinstance(n, ast.Call) and called_name(n) in WALKING for n in nodes_in(node))
