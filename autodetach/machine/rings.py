"""Places in rings, as memories go round in: `self.at = (self.at + 1) % self.room`, where no test asks for the place."""

from __future__ import annotations

import ast

from autodetach.kept import kept
from autodetach.machine.children import nodes_in
from autodetach.machine.remainders import divided
from autodetach.machine.spelling import last_word, spelled

TESTING = (ast.If, ast.While, ast.IfExp, ast.Assert)


@kept
def places_in_rings(tree: ast.Module) -> frozenset[str]:
    """The names and attributes of a file that are such places, as they are spelled."""
    places: set[str] = set()
    asked: set[str] = set()
    for node in nodes_in(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            found = divided(node.value)
            if found is not None and found.counter == spelled(node.targets[0]):
                places.add(found.counter)
        elif isinstance(node, (ast.Compare, ast.BoolOp)):
            asked |= _words_in(node)
        elif isinstance(node, TESTING):
            asked |= _words_in(node.test)
    return frozenset(place for place in places if place.rpartition(".")[2] not in asked)


def _words_in(node: ast.AST) -> set[str]:
    return {last_word(n) for n in nodes_in(node) if isinstance(n, (ast.Name, ast.Attribute))}
