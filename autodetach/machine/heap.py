"""Everything that a running program can reach, so that it can be asked later whether any of it has changed."""

from __future__ import annotations

import ast
import gc
import operator
from collections import defaultdict, deque
from collections.abc import Iterable
from functools import cache, partial
from itertools import chain
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

from autodetach.machine.core import Core
from autodetach.machine.graph import Differentiation, Node, Pass, Site
from autodetach.machine.oracle import Oracle, TestIndex
from autodetach.machine.program_values import Class, Function
from autodetach.machine.project import Module
from autodetach.machine.values import CONSTANTS

MAX_OBJECTS = 20_000
ATOMS = (
    *CONSTANTS, range, ast.AST, type, ModuleType, BuiltinFunctionType, Core, Oracle, TestIndex, Module,
    Site, Pass, Differentiation,
)  # fmt: skip
"""What never changes, is not the program's, or says what has been."""
PLAIN = (list, set, deque, CellType, MethodType, partial)
FIELDS = {
    # `called` is told apart, `order` follows from the bases and is only kept, `frame` is not set.
    Function: [name for name in Function.__slots__ if name != "called"],
    Class: [name for name in Class.__slots__ if name not in ("order", "frame")],
    # The rest says how it was made, or when; what is still in use of that, the program reaches without it.
    Node: ["parents", "walked_by", "grads", "freed_by", "called", "let_go_at", "frozen", "moved", "thawed", "observed"],
}
READ = {kind: operator.attrgetter(*names) for kind, names in FIELDS.items()}
OURS = "autodetach.machine."


@cache
def _is_looked_at(kind: type) -> bool:
    return not issubclass(kind, ATOMS)


class Unclear(Exception):
    """Something can be reached whose state cannot be seen, such as a running iterator, or too much."""


class Heap:
    """What can be reached from a machine when this is made, `besides` these of its attributes. Raises Unclear."""

    def __init__(self, machine: Core, besides: frozenset[str]) -> None:
        self._machine = machine
        self._names = sorted(vars(machine).keys() - besides)
        self._read_by_name: defaultdict[type, list[Any]] = defaultdict(list)
        self._things: list[Any] = []
        self._sized: list[Any] = []
        self._dicts: list[dict[Any, Any]] = []
        self._kept: dict[int, object] = {}
        found = [getattr(machine, name) for name in self._names]
        while found:
            fresh = {id(value): value for value in found if _is_looked_at(value.__class__)}
            for known in fresh.keys() & self._kept.keys():
                del fresh[known]
            self._kept.update(fresh)
            if len(self._kept) > MAX_OBJECTS:
                raise Unclear
            found = self._note(fresh.values())
        self._before = self._read()
        self.size = len(self._before[2])

    def _note(self, values: Iterable[Any]) -> list[Any]:
        """Note values by their kinds; what these refer to."""
        kinds: defaultdict[type, list[Any]] = defaultdict(list)
        for value in values:
            kinds[type(value)].append(value)
        found: list[Any] = []
        for kind, group in kinds.items():
            if kind in READ:
                self._read_by_name[kind] += group
                found += chain.from_iterable(map(READ[kind], group))
            elif kind is FunctionType:
                for one in group:
                    found += (*(one.__closure__ or ()), *(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values())
            else:
                if issubclass(kind, dict):
                    self._dicts += group
                elif not issubclass(kind, (tuple, frozenset)):
                    if not issubclass(kind, PLAIN) and not kind.__module__.startswith(OURS):
                        raise Unclear
                    if issubclass(kind, (list, set, deque)):
                        self._sized += group
                    self._things += group
                found += gc.get_referents(*group)
        return found

    def _read(self) -> tuple[list[int], list[Any], list[Any]]:
        values: list[Any] = [getattr(self._machine, name) for name in self._names]
        values += gc.get_referents(*self._things)
        values += chain.from_iterable(map(dict.values, self._dicts))
        for kind, group in self._read_by_name.items():
            values += chain.from_iterable(map(READ[kind], group))
        counts = [*map(len, self._sized), *map(len, self._dicts)]
        return counts, list(chain.from_iterable(self._dicts)), values

    def is_same(self) -> bool:
        """Whether nothing of it refers to anything else than when this was made."""
        counts, keys, values = self._read()
        old_counts, old_keys, old_values = self._before
        return (
            counts == old_counts
            and len(values) == len(old_values)
            and all(map(operator.is_, keys, old_keys))
            and all(map(operator.is_, values, old_values))
        )

    @property
    def functions(self) -> list[Function]:
        return self._read_by_name[Function]

    def called(self) -> list[bool]:
        """Which of the functions have been called."""
        return [function.called for function in self.functions]
