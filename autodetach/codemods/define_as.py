"""`def on_forward_end(self, runner):` -> `def on_step_end(self, runner):`: the name of a method where it is defined."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass

from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit


@dataclass(frozen=True, eq=False, slots=True)
class DefineAs:
    """Give a method another name in its definition; who calls it is not looked at."""

    method: ast.FunctionDef
    new: str

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        begin, end = tree.span(self.method)
        name = re.escape(self.method.name.encode(tree.source.encoding))
        found = re.compile(rb"def[ \t]+(" + name + rb")\b").search(tree.source.raw, begin, end)
        if found is None:
            raise Refused("the name of the method is not written where Python says")
        return (Edit(*found.span(1), self.new),)
