"""`w = w - lr * w.grad` -> `with torch.no_grad():` / `w -= lr * w.grad`."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Refused, Tree
from autodetach.codemods.under_no_grad import under_no_grad
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class UpdateInPlace:
    """Turn assignments `x = x + ...` into in-place ones.

    `wrap` puts them into a `torch.no_grad()` block; `forget` are texts of parameters whose `.grad` is set to None
    behind it. `among` are the consecutive statements that go into the block, if these are more than `statements`.
    """

    statements: tuple[ast.Assign, ...]
    wrap: bool
    forget: tuple[str, ...] = ()
    among: tuple[ast.stmt, ...] = ()

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        if not self.wrap:
            return tuple(edit for s in self.statements for edit in self._in_place(tree, s))
        changes = [e for s in self.statements for e in self._in_place(tree, s)]
        forgotten = (f"{name}.grad = None" for name in self.forget)
        return (under_no_grad(tree, self.among or self.statements, changes, forgotten),)

    def _in_place(self, tree: Tree, statement: ast.Assign) -> tuple[Edit, ...]:
        """`w = w - x` -> `w -= x`: the second `w`, the operator and the white space around it go."""
        source = tree.source
        value = statement.value
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, (ast.Add, ast.Sub)):
            raise Refused("not a sum")
        target_end = tree.span(statement.targets[0])[1]
        left_end = tree.span(value.left)[1]
        rest = source.raw[left_end:].decode(source.encoding)
        stripped = rest.lstrip(" \t")
        sign = "+" if isinstance(value.op, ast.Add) else "-"
        if not stripped.startswith(sign) or source.position(target_end).line != source.position(left_end).line:
            raise Refused("a comment or a line break stands before the operator")
        after = stripped[1:].lstrip(" \t")
        end = left_end + len(rest[: len(rest) - len(after)].encode(source.encoding))
        return (Edit(target_end, end, f" {sign}= "),)
