"""`lambda x: flux` -> `lambda x: -torch.exp(log_c) / 2`: what a name stands for, written where the name is read."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.append_method import ATOMS
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class InlineName:
    """Replace `read` by the text of `value`, in parentheses where it may need them; `alone` says that it needs none."""

    read: ast.Name
    value: ast.expr
    alone: bool = False

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        tree.expect(self.read)
        start, end = tree.span(self.value)
        raw = tree.source.raw[start:end]
        if b"#" in raw or b"\n" in raw or b"\r" in raw:
            raise Refused("the value stands on several lines")
        new = raw.decode(tree.source.encoding)
        bare = self.alone and not isinstance(self.value, (ast.Tuple, ast.NamedExpr, ast.Yield, ast.YieldFrom))
        return (Edit(*tree.span(self.read), new if bare or isinstance(self.value, ATOMS) else f"({new})"),)
