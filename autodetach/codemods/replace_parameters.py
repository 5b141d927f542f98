"""The parameters that a function takes one after the other, replaced by one."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class ReplaceParameters:
    """Take `name` in the place of `parameters`, which follow one another and have no defaults."""

    parameters: tuple[ast.arg, ...]
    name: str

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        begin, end = tree.span(self.parameters[0])[0], tree.span(self.parameters[-1])[1]
        if b"#" in tree.source.raw[begin:end]:
            raise Refused("a comment stands between the parameters")
        return (Edit(begin, end, self.name),)
