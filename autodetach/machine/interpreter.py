"""Generators and iteration; with these the machine is whole."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine import iteration, library_objects, object_arrays, open_listings, tensors
from autodetach.machine.enumerations import members_of
from autodetach.machine.generating import generate, one_by_one
from autodetach.machine.graph import Site
from autodetach.machine.loops import MAX_EXACT_ITEMS
from autodetach.machine.marks import ITEMS
from autodetach.machine.passes import MOST_PASSES
from autodetach.machine.program_values import Frame, Function, Instance, Iterable
from autodetach.machine.sizes import items_of_sizes
from autodetach.machine.state import MISSING, Raised
from autodetach.machine.statements import Statements
from autodetach.machine.values import SIZES, Mapping, Opaque, Sequence, Sym, Tensor, Value


class Machine(Statements):
    """A whole run: feed it a module, then its entry points."""

    @property
    def tops(self) -> list[Frame]:
        """The names of all files that were run, by file."""
        frames = (self.globals, *(space.frame for space in self.namespaces.values()))
        return list({id(frame): frame for frame in frames}.values())

    def generate(self, function: Function, frame: Frame) -> Iterator[Value]:
        return generate(self, function, frame)

    def _eval_GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        """Made element by element as a loop asks for them; where all are asked for at once, that is all the same."""
        generator = node.generators[0]
        statement = self.trail[-1][0] if self.trail else None
        is_plain = (
            len(node.generators) == 1 and not generator.ifs and isinstance(generator.iter, (ast.Name, ast.Attribute))
        )
        if not is_plain or not _is_asked_step_by_step(node, statement):
            return super()._eval_GeneratorExp(node, frame)
        items = self.items_of(self.eval(generator.iter, frame), self.site(generator.iter, frame))
        if items.listed or items.length is None or items.length > MAX_EXACT_ITEMS:
            return super()._eval_GeneratorExp(node, frame)
        return Iterable(
            lambda _: one_by_one(self, node, items, self._inner(frame)), items.length, "generator", once=True
        )

    # ---- iteration

    def items_of(self, value: Value, site: Site) -> Iterable:
        if isinstance(value, Iterable):
            return value
        if isinstance(value, (Sequence, Mapping, str, bytes)):
            self.note_read(value)
            return iteration.items(self, value)
        if isinstance(value, Tensor):
            return tensors.items(self, value, site)
        if isinstance(value, Instance):
            return self._instance_items(value, site)
        if isinstance(value, Opaque):
            return self._opaque_items(value, site)
        if isinstance(value, Sym) and value.kind == SIZES:
            return items_of_sizes(self, value)
        members = members_of(self, value)
        if members is not None:
            return iteration.items(self, members)
        if value is None or isinstance(value, (bool, int, float)):
            self.refuse(site, "iterates over what is not iterable", "TypeError")
        return Iterable(lambda exact: iter([self.opaque("item") for _ in range(MOST_PASSES)]))

    def _opaque_items(self, value: Opaque, site: Site) -> Iterable:
        listed = open_listings.items(self, value, site)
        if listed is not None:
            return listed

        def make(exact: bool) -> Iterator[Value]:
            elements = object_arrays.elements_of(value)
            if elements:
                yield from elements
                return
            for _ in range(MOST_PASSES):
                yield self.part(value, "item", site)

        return Iterable(make, short=value.node is not None and not value.node.weak)

    def _instance_items(self, value: Instance, site: Site) -> Iterable:
        raw = self.class_attribute(value.cls, "__iter__")
        if raw is not MISSING:
            iterator = self.call(self.bind(raw, value, site), [], {}, site)
            if iterator is not value:
                return self.items_of(iterator, site)
        raw = self.class_attribute(value.cls, "__next__")
        if raw is not MISSING:
            step = self.bind(raw, value, site)

            def advance(exact: bool) -> Iterator[Value]:
                for _ in range(MOST_PASSES):
                    try:
                        yield self.call(step, [], {}, site)
                    except Raised:
                        return

            return Iterable(advance)
        if ITEMS in value.attrs:
            return self.items_of(value.attrs[ITEMS], site)
        raw = self.class_attribute(value.cls, "__getitem__")
        if raw is not MISSING:
            return Iterable(lambda exact: self._by_index(value, site))
        return library_objects.instance_items(self, value, site)

    def _by_index(self, value: Instance, site: Site) -> Iterator[Value]:
        for i in range(MOST_PASSES):
            yield self.subscript(value, i, site)


def _is_asked_step_by_step(node: ast.GeneratorExp, statement: ast.stmt | None) -> bool:
    """Whether the statement that has a generator keeps it for later, or is a loop over it: `for a, b in zip(a, (...))`.

    Other calls ask for all elements before they do anything else.
    """
    if isinstance(statement, (ast.Assign, ast.AnnAssign, ast.Return)):
        return statement.value is node
    if not isinstance(statement, (ast.For, ast.AsyncFor)):
        return False
    over: list[ast.expr] = [statement.iter]
    while over:
        at = over.pop()
        if at is node:
            return True
        if isinstance(at, ast.Call) and isinstance(at.func, ast.Name) and at.func.id in ("zip", "enumerate"):
            over += at.args
    return False
