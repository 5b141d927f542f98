"""`retain_graph=True` into a call, or out of it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class SetKeyword:
    """Give a call's keyword a value (Python text), or remove the keyword where `value` is None."""

    call: ast.Call
    name: str
    value: str | None

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        if tree.stands(self.call):
            simple = self._in_one_line(tree)
            if simple is not None:
                return simple
        from autodetach.codemods.arguments import changed

        return tree.rewritten(tree.call(self.call), lambda call: changed(call, self.name, self.value))

    def _in_one_line(self, tree: Tree) -> tuple[Edit, ...] | None:
        """The edit for a call that is written as nearly all are, in one line and plainly; None for others."""
        start, end = tree.span(self.call)
        raw = tree.source.raw
        if not raw[start:end].isascii() or b"\n" in raw[start:end] or b"\r" in raw[start:end] or b"\f" in raw:
            return None
        opening = tree.span(self.call.func)[1]
        args = sorted([*self.call.args, *self.call.keywords], key=lambda a: tree.span(a)[0])
        at = next((n for n, a in enumerate(args) if isinstance(a, ast.keyword) and a.arg == self.name), None)
        if at is not None:
            keyword = args[at]
            begin, stop = tree.span(keyword)
            if self.value is not None and isinstance(keyword, ast.keyword):
                value = tree.span(keyword.value)
                plain = raw[begin : value[0]] == self.name.encode() + b"=" and value[1] == stop
                return tree.replaced(*value, self.value) if plain else None
            if at + 1 < len(args):
                following = tree.span(args[at + 1])[0]
                return tree.replaced(begin, following, "") if raw[stop:following] == b", " else None
            if at:
                before = tree.span(args[at - 1])[1]
                plain = raw[before:begin] == b", " and raw[stop:end] in (b")", b",)")
                return tree.replaced(before, end, raw[stop:end].decode("ascii")) if plain else None
            return tree.replaced(opening, end, "()") if raw[opening:begin] == b"(" and raw[stop:end] == b")" else None
        if self.value is None:
            return ()
        new = f"{self.name}={self.value}"
        if not args:
            return tree.replaced(opening, end, f"({new})") if raw[opening:end] == b"()" else None
        last = tree.span(args[-1])
        plain = raw[last[1] : end] == b")" and not any(isinstance(a, ast.keyword) and a.arg is None for a in args)
        if len(args) > 1:
            plain = plain and raw[tree.span(args[-2])[1] : last[0]] == b", "
        return tree.replaced(last[1], end, f", {new})") if plain else None
