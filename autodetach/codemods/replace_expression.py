"""An expression replaced by another one, given as text."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class ReplaceExpression:
    """Replace an expression by `template`, in which `{}` stands for the expression's own text."""

    expression: ast.expr
    template: str

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        tree.expect(self.expression)
        start, end = tree.span(self.expression)
        own = tree.source.raw[start:end].decode(tree.source.encoding)
        return (Edit(start, end, self.template.replace("{}", own)),)
