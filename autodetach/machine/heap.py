"""Everything that a running program can reach, so that it can be asked later whether any of it has changed."""

from __future__ import annotations

import ast
import gc
import operator
from collections import defaultdict, deque
from collections.abc import Callable, Iterable
from functools import cache, partial
from itertools import chain
from types import BuiltinFunctionType, CellType, FunctionType, MethodType, ModuleType
from typing import Any

from autodetach.machine.activations import Pass
from autodetach.machine.attribute_names import COMPILED, attributes_of, names_in
from autodetach.machine.core import Core
from autodetach.machine.graph import Differentiation, Node, Site
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
    Function: [name for name in attributes_of(Function) if name != "called"],
    Class: [name for name in attributes_of(Class) if name not in ("order", "frame")],
    # The rest says how it was made, or when; what is still in use of that, the program reaches without it.
    Node: ["parents", "walked_by", "grads", "freed_by", "called", "let_go_at", "frozen", "moved", "thawed", "observed"],
}
OURS = "autodetach.machine."
UNBOXED = (int, float)
"""Of these mypyc makes a new object whenever it is asked for the attribute that holds one; and of some tuples."""


@cache
def _is_looked_at(kind: type) -> bool:
    return not issubclass(kind, ATOMS)


@cache
def _reader(kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
    """What reads the attributes of an instance by their names, where what it refers to would not tell all of them."""
    names = FIELDS.get(kind) or (attributes_of(kind) if hasattr(kind, COMPILED) else ())
    if len(names) == 1:
        one = operator.attrgetter(*names)
        return lambda value: (one(value),)
    return operator.attrgetter(*names) if names else None


class Unclear(Exception):
    """Something can be reached whose state cannot be seen, such as a running iterator, or too much."""


class Heap:
    """What can be reached from a machine when this is made, `besides` these of its attributes. Raises Unclear."""

    def __init__(self, machine: Core, besides: frozenset[str]) -> None:
        self._machine = machine
        self._names = sorted(set(names_in(machine)) - besides)
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
            read = _reader(kind)
            if read is not None:
                self._read_by_name[kind] += group
                found += chain.from_iterable(map(read, group))
            elif kind is FunctionType:
                for one in group:
                    found += (*(one.__closure__ or ()), *(one.__defaults__ or ()), *(one.__kwdefaults__ or {}).values())
            else:
                if issubclass(kind, dict):
                    self._dicts += group
                elif not issubclass(kind, (tuple, frozenset)):
                    if not issubclass(kind, PLAIN) and (not kind.__module__.startswith(OURS) or _is_running(kind)):
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
            values += chain.from_iterable(map(_reader(kind) or tuple, group))
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
            and all(map(_is_same, values, old_values))
        )

    @property
    def functions(self) -> list[Function]:
        return self._read_by_name[Function]

    def called(self) -> list[bool]:
        """Which of the functions have been called."""
        return [function.called for function in self.functions]


def _is_running(kind: type) -> bool:
    """Whether the instances of a class are the generators of a function that is compiled."""
    return hasattr(kind, "__next__")


def _is_one(value: object, other: object) -> bool:
    """Whether two values are the same object, or would be if mypyc made no new one for each reader."""
    if value is other:
        return True
    if type(value) is not type(other):
        return False
    if isinstance(value, tuple) and isinstance(other, tuple):
        return len(value) == len(other) and all(map(_is_one, value, other))
    return isinstance(value, UNBOXED) and value == other


_is_same = _is_one if hasattr(Core, COMPILED) else operator.is_
