"""Which entry points cannot show a fault: those in which no history can begin, and to which none can come.

Every rule speaks of a value with history, of a differentiation, or of a look at `.data` or `.grad` (see
`autodetach.relevance`). An entry point is given what nobody knows, which has no history. So if no place where history
begins can be reached from it by name, all that is left are the values that it finds: those of the global names that it
mentions, and what can be reached from these. This is asked when its turn comes, since others may have put something
there before.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable

from autodetach.machine.interpreter import Machine
from autodetach.machine.marks import HELD, OPTIMIZER, WEIGHTS
from autodetach.machine.mentioned import mentioned
from autodetach.machine.mentions import CLASSES, bound_by, file_of
from autodetach.machine.module_tree import is_module
from autodetach.machine.program_values import (
    Class,
    ClassMethod,
    Deferred,
    External,
    Function,
    Instance,
    Method,
    Namespace,
    Property,
    StaticMethod,
    Super,
)
from autodetach.machine.project import Module, Project
from autodetach.machine.reach import Reach
from autodetach.machine.state import MISSING
from autodetach.machine.values import CONSTANT_TYPES, GradMode, Mapping, Opaque, Sequence, Slice, Sym, Tensor, Value

MAX_VALUES = 2000
NO_GRAPH = frozenset({*CONSTANT_TYPES, Sym, GradMode, range, type(MISSING)})
MARKS = (WEIGHTS, HELD, OPTIMIZER)
"""What an unknown value has that is known to be a module, or to keep some."""
LOOKED_UP = frozenset({"getattr", "attrgetter", "methodcaller", "globals", "vars"})
"""By which the names of a module may be had that are not written out."""


def is_bystander(machine: Machine, reach: Reach, name: str, values: Iterable[Value] = ()) -> bool:
    """Whether a function or class cannot have to do with history now, if it finds these `values` too."""
    return machine.evidence is None and not reach.begins(name) and not _Search(machine, reach).finds(name, values)


class _Search:
    """A search for history in what an entry point may find. When in doubt, there is some."""

    def __init__(self, machine: Machine, reach: Reach) -> None:
        self._machine = machine
        self._reach = reach
        self._tops = machine.tops
        self._pending: list[Value] = []
        self._names: set[str] = set()

    def finds(self, name: str, values: Iterable[Value]) -> bool:
        self._pending += values
        self._mention(name)
        seen: set[int] = set()
        pending = self._pending
        while pending:
            value = pending.pop()
            if type(value) in NO_GRAPH or id(value) in seen:
                continue
            seen.add(id(value))
            if len(seen) > MAX_VALUES or self._bears(value):
                return True
        return self._imports_history()

    def _imports_history(self) -> bool:
        """Whether a function may import what begins one: it does not say so itself, and nothing is imported yet."""
        project = self._machine.project
        if project is None:
            return False
        imported = _imported_inside(project)
        found = {one for name in self._names.intersection(imported) for one in imported[name]}
        paths = {project.find(dotted, importer) for dotted, importer in found}
        return any(path is not None and not project.is_idle(path) for path in paths)

    def _mention(self, name: str) -> None:
        """A function or class of this name may be called: look at the globals that it mentions."""
        if name in self._names:
            return
        names = self._reach.mentions(name)
        self._names |= names
        for frame in self._tops:
            self._pending += (frame.names[one] for one in names.intersection(frame.names))

    def _bears(self, value: Value) -> bool:
        """Whether a value has to do with history, or nobody knows; else, what can be reached from it is looked at."""
        pending = self._pending
        if isinstance(value, Opaque):
            pending += value.attrs.values()
            return value.node is not None or any(mark in value.attrs for mark in MARKS)
        if isinstance(value, Sequence):
            pending += value.items
            pending += value.attrs.values()
        elif isinstance(value, Mapping):
            for pair in value.items.values():
                pending += pair
            pending.append(value.default)
        elif isinstance(value, Instance):
            pending += value.attrs.values()
            pending.append(value.cls)
            return is_module(value)
        elif isinstance(value, Tensor):
            pending += (value.grad, value.data_of, value.grad_of, value.view_of)
            return value.node is not None or value.leaf_node is not None or bool(value.from_grad)
        elif isinstance(value, External):
            return _is_of_autograd(value.path)
        elif isinstance(value, Function):
            return self._is_begun_by(value)
        elif isinstance(value, Class):
            self._mention(value.name)
            pending += value.bases
            pending += (one for one in value.names.values() if not isinstance(one, Function))
            return self._reach.begins(value.name)
        elif isinstance(value, Method):
            pending += (value.function, value.this)
        elif isinstance(value, Property):
            pending += (value.getter, value.setter, value.deleter)
        elif isinstance(value, (StaticMethod, ClassMethod)):
            pending.append(value.function)
        elif isinstance(value, Super):
            pending += (value.cls, value.this)
        elif isinstance(value, Slice):
            pending += (value.lower, value.upper, value.step)
        elif isinstance(value, Namespace):
            # What is mentioned of it is looked at as what all files have, but not what is looked up by other names.
            if not LOOKED_UP.isdisjoint(self._names):
                pending += value.frame.names.values()
            return not value.begun
        elif isinstance(value, Deferred):
            return self._is_waiting_for_history(value)
        else:
            return True
        return False

    def _is_waiting_for_history(self, value: Deferred) -> bool:
        """Whether a name may have to do with history that an imported file imports, and that nobody has asked for."""
        project, importer = self._machine.project, value.importer.top.module
        if project is None or importer is None:
            return True
        path = project.find(value.dotted, importer)
        if path is None:
            return _is_of_autograd(f"{value.dotted}.{value.name}")
        space = self._machine.namespaces.get(path)
        if space is None:
            return not project.is_idle(path)
        if not space.begun or value.name not in space.frame.names:
            return True
        self._pending.append(space.frame.names[value.name])
        return False

    def _is_begun_by(self, function: Function) -> bool:
        if isinstance(function.node, ast.Lambda):
            return True
        name = function.name if function.owner is None else function.owner.name
        self._mention(name)
        self._pending += (*function.defaults, *function.kwdefaults, *function.attrs.values())
        frame = function.frame
        while frame.outer is not None:
            self._pending += frame.names.values()
            frame = frame.outer
        return self._reach.begins(name)


def _imported_inside(project: Project) -> dict[str, set[tuple[str, Module]]]:
    """Of the names that functions import: the dotted names of the files, and who imports them."""
    found: dict[str, set[tuple[str, Module]]] = {}
    for module in project.modules:
        for statement in mentioned(module.tree).imports_inside:
            for alias in statement.names:
                found.setdefault(bound_by(statement, alias), set()).add((file_of(statement, alias), module))
    return found


def _is_of_autograd(path: str) -> bool:
    """Whether what has a dotted path may begin a history, or walk one; a module by itself does not."""
    *parts, last = path.split(".")
    is_class = "nn" in parts and (last in CLASSES or ("functional" not in parts and last[:1].isupper()))
    return is_class or "autograd" in parts or last in ("Variable", "backward", "grad") or "Module" in last
