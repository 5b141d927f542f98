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
            names, loops = mentioned(tree)
            self._loops |= loops
            for function, inner in names.items():
                self._names.setdefault(function, set()).update(inner)
        self._known: dict[str, bool] = {}

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


def mentioned(tree: ast.Module) -> tuple[dict[str, set[str]], set[str]]:
    """The names that each function of a file mentions, and the functions with loops; kept with the tree."""
    known: tuple[dict[str, set[str]], set[str]] | None = getattr(tree, "_mentioned", None)
    if known is None:
        names: dict[str, set[str]] = {}
        loops: set[str] = set()
        for function in ast.walk(tree):
            if not isinstance(function, FUNCTIONS):
                continue
            own = names.setdefault(function.name, set())
            for node in ast.walk(function):
                if isinstance(node, ast.Attribute):
                    own.add(node.attr)
                elif isinstance(node, ast.Name):
                    own.add(node.id)
                elif isinstance(node, LOOPS):
                    loops.add(function.name)
        known = names, loops
        setattr(tree, "_mentioned", known)  # noqa: B010 - syntax trees have no such field
    return known
