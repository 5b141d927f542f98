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
        for statement in tree.body:
            own_names, own_loops = _mentioned_in(statement)
            for function, inner in own_names.items():
                names.setdefault(function, set()).update(inner)
            loops |= own_loops
        known = names, loops
        setattr(tree, "_mentioned", known)  # noqa: B010 - syntax trees have no such field
    return known


def _mentioned_in(statement: ast.stmt) -> tuple[dict[str, set[str]], set[str]]:
    """As `mentioned`, of one statement; kept with it, since an edited program has most of them in common."""
    known: tuple[dict[str, set[str]], set[str]] | None = getattr(statement, "_mentioned", None)
    if known is None:
        names: dict[str, set[str]] = {}
        loops: set[str] = set()
        _mention(statement, (), names, loops)
        known = names, loops
        setattr(statement, "_mentioned", known)  # noqa: B010 - as above
    return known


def _mention(node: ast.AST, functions: tuple[str, ...], names: dict[str, set[str]], loops: set[str]) -> None:
    """Walk a node once: what a function mentions, the functions around it mention too."""
    pending: list[tuple[ast.AST, tuple[str, ...]]] = [(node, functions)]
    while pending:
        at, around = pending.pop()
        kind = type(at)
        if kind is ast.Name:
            for function in around:
                names[function].add(at.id)  # type: ignore[attr-defined]
            continue
        if kind in FUNCTIONS:
            around = (*around, at.name)  # type: ignore[attr-defined]
            names.setdefault(around[-1], set())
        elif kind is ast.Attribute:
            for function in around:
                names[function].add(at.attr)  # type: ignore[attr-defined]
        elif kind in LOOPS:
            loops.update(around)
        for name in at._fields:
            value = getattr(at, name, None)
            if isinstance(value, list):
                pending += [(item, around) for item in value if isinstance(item, ast.AST)]
            elif isinstance(value, ast.AST):
                pending.append((value, around))
