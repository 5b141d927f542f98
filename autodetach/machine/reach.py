"""Which functions can matter: those from which a differentiation or a loop is reachable, by the names they call."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from autodetach.machine.mentioned import mentioned
from autodetach.machine.mentions import Mentions

OF_DIFFERENTIATIONS = frozenset({"backward", "manual_backward", "grad", "detach", "data", "step"})
"""What differentiates, or belongs to that."""
CALLED_BY_TRAINERS = "training_step"
METHOD = "."
"""Stands in front of the name of a method."""


class Reach:
    """Reachability between the functions of some modules, by name: too much rather than too little.

    What stands in a function or class counts as a part of it. So of what is called by name, only that need be followed
    which stands in no other: who calls a method has an object of its class, and so has found one, or names the class.
    """

    def __init__(self, trees: Sequence[ast.Module]) -> None:
        if len(trees) == 1:
            self._mentions = mentioned(trees[0])
        else:
            self._mentions = Mentions()
            for tree in trees:
                self._mentions.add(mentioned(tree))
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
        functions, methods = self._mentions.functions, self._mentions.methods
        found = any(
            not part.names.isdisjoint(OF_DIFFERENTIATIONS)
            or any((n in functions or n in methods) and self._reaches(n, seen) for n in part.names)
            for part in (functions.get(name), methods.get(name))
            if part is not None
        )
        if found or len(seen) == 1:
            self._known[name] = found
        return found

    def matters(self, name: str) -> bool:
        """Whether an entry point can show a fault on its own: without a loop or a differentiation it cannot."""
        parts = (self._mentions.functions.get(name), self._mentions.methods.get(name))
        loops = any(part is not None and part.loops for part in parts)
        return name == CALLED_BY_TRAINERS or loops or self.differentiates(name)

    def loops(self, method: str) -> bool:
        """Whether a loop stands in the methods of a name."""
        part = self._mentions.methods.get(method)
        return part is not None and bool(part.loops)

    def asked_by(self, method: str) -> frozenset[str]:
        """The names that stand in the methods of a name."""
        part = self._mentions.methods.get(method)
        return frozenset() if part is None else frozenset(part.names)

    def is_set_on_others(self, attribute: str) -> bool:
        """Whether an attribute is set, or added to, of an object that is not called `self`."""
        return attribute in self._mentions.set_on_others

    def asked_by_function(self, name: str) -> frozenset[str]:
        """The names that stand in the functions of a name, which are no methods."""
        part = self._mentions.functions.get(name)
        return frozenset() if part is None else frozenset(part.names)

    def asked_by_class(self, name: str) -> frozenset[str]:
        """The names that stand in the classes of a name."""
        part = self._mentions.classes.get(name)
        return frozenset() if part is None else frozenset(part.names)

    def begins(self, name: str) -> bool:
        """Whether a place where history begins, or is walked, is reachable from a function or class."""
        if self._beginning is None:
            self._beginning = self._all_beginning()
        is_found = name in self._beginning or METHOD + name in self._beginning
        return is_found or not self._mentions.is_clear or name == CALLED_BY_TRAINERS

    def _all_beginning(self) -> set[str]:
        """The functions, methods and classes from which a beginning is reachable."""
        matter = self._mentions.names_that_matter()
        called_by: dict[str, list[str]] = {}
        found: set[str] = set()
        for parts in self._mentions.parts:
            dot = METHOD if parts is self._mentions.methods else ""
            for name, part in parts.items():
                if part.begins or not part.plain.isdisjoint(matter):
                    found.add(dot + name)
                for inner in part.names & self._mentions.tops:
                    called_by.setdefault(inner, []).append(dot + name)
        pending = list(found)
        while pending:
            for name in called_by.get(pending.pop(), ()):
                if name not in found:
                    found.add(name)
                    pending.append(name)
        return found

    def mentions(self, name: str) -> frozenset[str]:
        """All names that stand in a function, method or class, or in those that are reachable from it."""
        known = self._around.get(name)
        if known is None:
            found, seen, pending = {name}, {name}, [name]
            parts = self._mentions.parts
            while pending:
                at = pending.pop()
                for kind in parts:
                    part = kind.get(at)
                    if part is not None and (kind is not self._mentions.methods or at == name):
                        further = (part.names & self._mentions.tops) - seen
                        pending += further
                        seen |= further
                        found |= part.names
            known = self._around[name] = frozenset(found)
        return known
