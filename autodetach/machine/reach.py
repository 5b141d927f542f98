"""Which functions can matter: those from which a differentiation or a loop is reachable, by the names they call."""

from __future__ import annotations

import ast
from collections.abc import Sequence

DIFFERENTIATIONS = frozenset({"backward", "manual_backward", "grad", "detach", "data", "step"})
CALLED_BY_TRAINERS = "training_step"
LOOPS = (ast.For, ast.AsyncFor, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Reach:
    """Reachability between the functions of some modules, by name: too much rather than too little."""

    def __init__(self, trees: Sequence[ast.Module]) -> None:
        self._names: dict[str, set[str]] = {}
        self._loops: set[str] = set()
        for tree in trees:
            for node in ast.walk(tree):
                if isinstance(node, FUNCTIONS):
                    self._add(node)
        self._known: dict[str, bool] = {}

    def _add(self, function: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        names = self._names.setdefault(function.name, set())
        for node in ast.walk(function):
            if isinstance(node, ast.Attribute):
                names.add(node.attr)
            elif isinstance(node, ast.Name):
                names.add(node.id)
            elif isinstance(node, LOOPS):
                self._loops.add(function.name)

    def differentiates(self, name: str) -> bool:
        """Whether a differentiation, or what belongs to one, is reachable from a function."""
        return self._reaches(name, set())

    def _reaches(self, name: str, seen: set[str]) -> bool:
        if name in self._known:
            return self._known[name]
        if name in seen:
            return False
        seen.add(name)
        names = self._names.get(name, set())
        found = bool(names & DIFFERENTIATIONS) or any(n in self._names and self._reaches(n, seen) for n in names)
        if found or len(seen) == 1:
            self._known[name] = found
        return found

    def matters(self, name: str) -> bool:
        """Whether an entry point can show a fault on its own: without a loop or a differentiation it cannot."""
        return name == CALLED_BY_TRAINERS or name in self._loops or self.differentiates(name)
