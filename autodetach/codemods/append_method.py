"""`loss` -> `loss.item()`: a method call put behind an expression."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Refused, Tree
from autodetach.no_tensors import holds_others
from autodetach.source import Edit

ATOMS = (
    ast.Name, ast.Attribute, ast.Call, ast.Subscript,
    ast.List, ast.ListComp, ast.Dict, ast.DictComp, ast.Set, ast.SetComp,
)  # fmt: skip


@dataclass(frozen=True, eq=False, slots=True)
class AppendMethod:
    """Put `.method()` behind an expression, in parentheses where the grammar asks for them."""

    expression: ast.expr
    method: str

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        if holds_others(self.expression):
            raise Refused(f"`{self.method}` is asked of what is no tensor")
        start, end = tree.span(self.expression)
        suffix = f".{self.method}()"
        if isinstance(self.expression, ATOMS):
            tree.expect(self.expression)
            return (Edit(end, end, suffix),)
        close = _closing(tree, end)
        if close is None or not tree.source.raw[:start].rstrip().endswith(b"("):
            tree.expect(self.expression)
        elif getattr(tree.expression(self.expression), "lpar", None):
            return (Edit(close, close, suffix),)
        return (Edit(start, start, "("), Edit(end, end, ")" + suffix))


def _closing(tree: Tree, end: int) -> int | None:
    """Byte offset behind the parenthesis that closes right after an expression, comments and line ends skipped."""
    raw = tree.source.raw
    at = end
    while at < len(raw):
        byte = raw[at : at + 1]
        if byte == b")":
            return at + 1
        if byte == b"#":
            while at < len(raw) and raw[at : at + 1] not in (b"\n", b"\r"):
                at += 1
        elif byte not in b" \t\r\n\f\\":
            return None
        else:
            at += 1
    return None
