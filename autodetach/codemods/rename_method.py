"""`h.detach_()` -> `h.detach()`: the name of a method that is called."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class RenameMethod:
    """Call another method of the same object, with the same arguments."""

    method: ast.Attribute
    new: str

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        _, end = tree.span(self.method)
        old = self.method.attr.encode("ascii", "replace")
        if tree.source.raw[end - len(old) : end] != old:
            raise Refused("the method is not written where Python says")
        return (Edit(end - len(old), end, self.new),)
