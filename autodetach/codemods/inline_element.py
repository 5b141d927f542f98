"""`rays[c]` -> `rays_of(pose(c))`: the element of a table, written where it is read."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.codemods.append_method import ATOMS
from autodetach.codemods.tree import Refused, Tree
from autodetach.source import Edit

SCOPES = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, eq=False, slots=True)
class InlineElement:
    """Replace `read`, a subscript by a name, by the element of the comprehension `made` for that name."""

    read: ast.Subscript
    made: ast.ListComp

    def edits(self, tree: Tree) -> tuple[Edit, ...]:
        element, target = self.made.elt, self.made.generators[0].target
        inside = list(ast.walk(element))
        if not isinstance(target, ast.Name) or any(isinstance(n, SCOPES) for n in inside):
            raise Refused("a name may mean another thing inside of the element")
        if not isinstance(self.read.slice, ast.Name):
            raise Refused("the index is no name")
        tree.expect(self.read)
        start, end = tree.span(element)
        text = tree.source.raw[start:end]
        if b"#" in text or b"\n" in text or b"\r" in text:
            raise Refused("the element stands on several lines")
        index = tree.text(self.read.slice).encode(tree.source.encoding)
        places = [n for n in inside if isinstance(n, ast.Name) and n.id == target.id]
        for name in places:
            tree.expect(name)
        for first, last in sorted(map(tree.span, places), reverse=True):
            text = text[: first - start] + index + text[last - start :]
        new = text.decode(tree.source.encoding)
        begin, stop = tree.span(self.read)
        return (Edit(begin, stop, new if isinstance(element, (*ATOMS, ast.Tuple)) else f"({new})"),)
