"""`h.detach()` -> `h = h.detach()`: the result of a statement is bound."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class AssignResult:
    """Bind the value of an expression statement to `targets`, written as they stand in the source."""

    statement: ast.Expr
    targets: tuple[ast.expr, ...]

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        tree.company(self.statement)
        start = tree.span(self.statement)[0]
        return (Edit(start, start, ", ".join(tree.text(t) for t in self.targets) + " = "),)
