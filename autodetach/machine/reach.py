"""Which functions can matter: those from which a differentiation or a loop is reachable, by the names they call."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autodetach.machine.mentions import Mentions, Part, mentioned

DIFFERENTIATIONS = frozenset({"backward", "manual_backward", "grad", "detach", "data", "step"})
CALLED_BY_TRAINERS = "training_step"


class Reach:
    """Reachability between the functions of some modules, by name: too much rather than too little."""

    def __init__(self, trees: Sequence[ast.Module]) -> None:
        if len(trees) == 1:
            self._mentions = mentioned(trees[0])
        else:
            self._mentions = Mentions()
            for tree in trees:
                self._mentions.add(mentioned(tree))
        self._functions = self._mentions.functions
        self._keys = self._functions.keys() | self._mentions.classes.keys()
        self._known: dict[str, bool] = {}
        self._beginning: set[str] | None = None
        self._around: dict[str, frozenset[str]] = {}

    def differentiates(self, name: str) -> bool:
        """Whether a differentiation, or what belongs to one, is reachable from a function."""
        return self._reaches(name, set())

    def _reaches(self, name: str, seen: set[str]) -> bool:
        if name in self._known:
            return self._known[name]
        if name in seen:
            return False
        seen.add(name)
        part = self._functions.get(name)
        names = part.names if part is not None else frozenset()
        found = not names.isdisjoint(DIFFERENTIATIONS) or any(
            n in self._functions and self._reaches(n, seen) for n in names
        )
        if found or len(seen) == 1:
            self._known[name] = found
        return found

    def matters(self, name: str) -> bool:
        """Whether an entry point can show a fault on its own: without a loop or a differentiation it cannot."""
        part = self._functions.get(name)
        return name == CALLED_BY_TRAINERS or (part is not None and part.loops) or self.differentiates(name)

    def begins(self, name: str) -> bool:
        """Whether a place where history begins, or is walked, is reachable from a function or class."""
        if self._beginning is None:
            self._beginning = self._all_beginning()
        return not self._mentions.is_clear or name == CALLED_BY_TRAINERS or name in self._beginning

    def _all_beginning(self) -> set[str]:
        matter = self._mentions.names_that_matter()
        called_by: dict[str, list[str]] = {}
        found: set[str] = set()
        for name, part in self._parts():
            if part.begins or not part.plain.isdisjoint(matter):
                found.add(name)
            for inner in part.names & self._keys:
                called_by.setdefault(inner, []).append(name)
        pending = list(found)
        while pending:
            for name in called_by.get(pending.pop(), ()):
                if name not in found:
                    found.add(name)
                    pending.append(name)
        return found

    def mentions(self, name: str) -> frozenset[str]:
        """All names that stand in a function or class, or in those that are reachable from it."""
        known = self._around.get(name)
        if known is None:
            found, pending = {name}, [name]
            while pending:
                at = pending.pop()
                for parts in (self._functions, self._mentions.classes):
                    part = parts.get(at)
                    if part is not None:
                        pending += (part.names & self._keys) - found
                        found |= part.names
            known = self._around[name] = frozenset(found)
        return known

    def _parts(self) -> list[tuple[str, Part]]:
        return [*self._functions.items(), *self._mentions.classes.items()]
