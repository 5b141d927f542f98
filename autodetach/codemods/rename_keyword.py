"""`backward(retain_variables=True)` -> `backward(retain_graph=True)`: the name of an argument."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class RenameKeyword:
    """Give a keyword of a call another name; its value stays as it is written."""

    keyword: ast.keyword
    new: str

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        start, _ = tree.span(self.keyword)
        old = str(self.keyword.arg).encode("ascii", "replace")
        if tree.source.raw[start : start + len(old)] != old:
            raise Refused("the keyword is not written where Python says")
        return (Edit(start, start + len(old), self.new),)
