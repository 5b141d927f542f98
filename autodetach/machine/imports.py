"""Imports of other files of the project: each is run once, in a frame of its own."""

from __future__ import annotations

import ast

from autodetach.machine import library_constants
from autodetach.machine.comprehensions import Comprehensions
from autodetach.machine.program_values import Deferred, External, Frame, Namespace
from autodetach.machine.project import Module, Project
from autodetach.machine.settings import open_settings
from autodetach.machine.star_names import from_a_star
from autodetach.machine.state import MISSING, OutOfFuel, Raised
from autodetach.machine.values import Sequence, Value


class Imports(Comprehensions):
    """Comprehensions plus imports."""

    def block(self, body: list[ast.stmt], frame: Frame) -> str | None:
        """Run statements; what is returned says how control leaves them."""
        raise NotImplementedError

    def import_names(self, node: ast.Import, frame: Frame) -> None:
        """`import a.b, c as d`."""
        for alias in node.names:
            top = alias.name.partition(".")[0]
            found = self._load(alias.name, frame)
            if found is None:
                value = library_constants.constant(alias.name) if alias.asname is not None else External(top)
            else:
                first = found if alias.asname is not None else self._load(top, frame)
                value = External(top) if first is None else self.namespace(first)
            self.store_name(alias.asname or top, value, frame)

    def import_from(self, node: ast.ImportFrom, frame: Frame) -> None:
        """`from a.b import c as d, e`."""
        dotted = "." * node.level + (node.module or "")
        later = frame is frame.top and (frame is not self.globals or self._is_at_hand(dotted, frame))
        for alias in node.names:
            bound = alias.asname or alias.name
            if alias.name == "*":
                self._import_all(dotted, frame)
            elif later:
                self.store_name(bound, Deferred(frame, dotted, alias.name), frame)
            else:
                self.store_name(bound, self._member(dotted, alias.name, frame), frame)

    def _import_all(self, dotted: str, frame: Frame) -> None:
        found = self._load(dotted, frame)
        if found is not None:
            space = self.namespace(found)
            self.begin(space)
            for name in public(space):
                value = space.frame.names[name]
                if not (isinstance(value, Deferred) and value.sought and name in frame.names):
                    self.store_name(name, value, frame)
            if not space.done:
                space.waiting.append(frame)

    def _member(self, dotted: str, name: str, frame: Frame) -> Value:
        found = self._load(dotted, frame)
        if found is None:
            return library_constants.constant(f"{dotted}.{name}")
        return self.module_attribute(self.namespace(found), name)

    def imported(self, name: str) -> Value:
        """The file of the project that a function imports by a dotted name, here; MISSING where there is none."""
        found = self._load(name, self.trail[-1][1]) if self.trail else None
        return MISSING if found is None else self.namespace(found)

    def module_attribute(self, space: Namespace, name: str) -> Value:
        """A name of a module, or a module inside a package; something unknown where neither is in view."""
        self.begin(space)
        if name in space.frame.names:
            return self.fetched(space.frame, name)
        module = space.module
        known = from_a_star(self.project, module, name)
        if known is not None:
            return known
        inner = None
        if self.project is not None and module.is_package:
            inner = self._found(self.project, f".{name}", module, f"{module.name}.{name}")
        return External(f"{module.name}.{name}") if inner is None else self.namespace(inner)

    def fetched(self, frame: Frame, name: str) -> Value:
        """A name of a module, for which another file may have to be run first."""
        value = frame.names[name]
        if not isinstance(value, Deferred):
            return value
        found: Value = External(f"{value.dotted}.{value.name}")
        if value.sought:
            return found
        value.sought = True
        try:
            found = self._member(value.dotted, value.name, value.importer)
        finally:
            value.sought = False
            frame.names[name] = found
        return found

    def namespace(self, module: Module) -> Namespace:
        """The module as a value."""
        known = self.namespaces.get(module.path)
        if known is not None:
            return known
        frame = Frame(None, module.name)
        frame.module = module
        frame.names["__name__"] = module.name
        frame.names["__file__"] = self.fresh("str")
        space = self.namespaces[module.path] = Namespace(module, frame)
        return space

    def begin(self, space: Namespace) -> None:
        """Run the body of a module the first time that something of it is asked for, with a budget of its own."""
        if space.begun:
            return
        space.begun = True  # in a circle of imports, others see it half done
        module, frame = space.module, space.frame
        state = self.loops, self.grad_enabled, self.trail, self.chain, self.expecting, self.taking
        fuel, outermost = self.fuel, not self.importing
        self.loops, self.grad_enabled, self.trail, self.chain, self.expecting, self.taking = (), True, [], None, [], []
        if outermost:
            self.importing, self.fuel = True, self.import_fuel
        try:
            self.block(module.tree.body, frame)
        except Raised:
            pass
        except OutOfFuel:
            if not outermost:
                raise
        finally:
            self.loops, self.grad_enabled, self.trail, self.chain, self.expecting, self.taking = state
            if outermost:
                self.importing, self.import_fuel, self.fuel = False, max(self.fuel, 0), fuel
            space.done = True
            open_settings(self, module.tree, frame)
            # Python runs a package before what is in it; here, a circle may be begun in its middle.
            for waiting in space.waiting:
                for name in public(space):
                    waiting.names.setdefault(name, frame.names[name])

    def _is_at_hand(self, name: str, frame: Frame) -> bool:
        importer = frame.top.module
        return self.project is not None and importer is not None and self.project.find(name, importer) is not None

    def _load(self, name: str, frame: Frame) -> Module | None:
        importer = frame.top.module
        if self.project is None or importer is None:
            return None
        return self._found(self.project, name, importer, name)

    def _found(self, project: Project, name: str, importer: Module, shown: str) -> Module | None:
        """The file that a name means, if it may be looked at; `shown` is what the program calls it."""
        found = project.load(name, importer)
        if found is None and project.is_left_out(name, importer):
            self.left_out.add(shown)
        return found


def public(space: Namespace) -> list[str]:
    """What `import *` takes."""
    names = space.frame.names
    listed = names.get("__all__")
    if isinstance(listed, Sequence) and listed.exact and all(isinstance(n, str) for n in listed.items):
        return [n for n in listed.items if isinstance(n, str) and n in names]
    return [n for n in names if not n.startswith("_")]
