"""Which classes may be those of one object: bases of each other, or of a third one."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.kept import kept
from autodetach.machine.children import statements_in
from autodetach.machine.spelling import last_word


class Families:
    """The classes of some files, by name. Those of the same name, or with a base in common, are one family."""

    def __init__(self, trees: Iterable[ast.Module]) -> None:
        self._above: dict[str, str] = {}
        statements = [statement for tree in trees for statement in tree.body]
        classes = [cls for cls in statements if isinstance(cls, ast.ClassDef)]
        classes += (cls for statement in statements for cls in _classes_in(statement))
        names = {cls.name for cls in classes}
        for cls in classes:
            for base in cls.bases:
                # Of a base that is not in view, as `nn.Module`, each class makes objects of its own.
                if last_word(base) in names:
                    self._above[self.of(cls.name)] = self.of(last_word(base))

    def of(self, name: str) -> str:
        """The name that stands for all of the family of a class."""
        while self._above.get(name, name) != name:
            name = self._above[name]
        return name


@kept
def _classes_in(statement: ast.stmt) -> list[ast.ClassDef]:
    """All classes inside a statement of a file: an edited program has most statements in common."""
    found, pending = list[ast.ClassDef](), [statement]
    while pending:
        inside = statements_in(pending.pop())
        found += (child for child in inside if isinstance(child, ast.ClassDef))
        pending += inside
    return found
