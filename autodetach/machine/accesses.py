"""Evaluation of what is looked up in something: attributes and subscripts."""

from __future__ import annotations

import ast

from autodetach.machine import elements, object_arrays, settings, sliced_arrays, tensors
from autodetach.machine.alike_calls import is_scalar_alike
from autodetach.machine.attributes import has_names
from autodetach.machine.displays import Displays
from autodetach.machine.enumerations import by_name
from autodetach.machine.events import DataRead
from autodetach.machine.graph import Site
from autodetach.machine.held import held_by
from autodetach.machine.implicit_calls import special
from autodetach.machine.marks import ITEMS
from autodetach.machine.module_building import part_of
from autodetach.machine.module_tree import is_module
from autodetach.machine.number_readers import wanted_of_number
from autodetach.machine.program_values import Class, External, Frame, Instance
from autodetach.machine.sizes import part_of_sizes
from autodetach.machine.state import MISSING
from autodetach.machine.steering import picked
from autodetach.machine.swallowing import is_meant, is_swallowed
from autodetach.machine.told_of_values import is_number, is_scalar
from autodetach.machine.values import SIZES, Mapping, Opaque, Sequence, Slice, Sym, Tensor, Value


class Accesses(Displays):
    """Displays plus look-ups."""

    def _eval_Attribute(self, node: ast.Attribute, frame: Frame) -> Value:
        this = self.eval(node.value, frame)
        if type(this) is Opaque:
            known = this.attrs.get(node.attr, MISSING)
            if known is not MISSING and node.attr != "grad_fn":
                return settings.asked(self, this, node.attr, known) if self.asking is not None else known
        found = self.attribute(this, node.attr, Site(node, frame.qualname, ((node.value, this),)))
        return settings.asked(self, this, node.attr, found) if self.asking is not None else found

    def _eval_Subscript(self, node: ast.Subscript, frame: Frame) -> Value:
        this = self.eval(node.value, frame)
        index = self.eval(node.slice, frame)
        site = Site(node, frame.qualname, ((node.value, this), (node.slice, index)))
        if is_scalar(this) and isinstance(index, int) and not isinstance(index, bool):
            if _is_data(node.value) or (isinstance(this, Tensor) and tensors.is_made_so(this) and _is_first(node)):
                self._note_read(DataRead(site, this, raises=True))
            return this if node in self.left_whole else self.fresh("number", tags=frozenset({node}))
        if isinstance(this, Opaque) and tensors.WITHOUT_DIMENSION in this.attrs and index == 0 and _is_first(node):
            self._note_read(DataRead(site, this.attrs[tensors.WITHOUT_DIMENSION], raises=True))
            return this if node in self.left_whole else self.fresh("number", tags=frozenset({node}))
        if type(index) is int and index == 0:
            if type(this) is Sym and is_number(this) and node.value in this.tags and _is_list(node.value):
                self._note_read(DataRead(site, this, raises=True))
                return self.opaque("item") if node in self.left_whole else self.fresh("number", tags=frozenset({node}))
            if type(this) is Opaque:
                if this.owner is not None and _is_data(node.value) and _is_first(node):
                    self.unproven.append(DataRead(site, this, raises=True))
                    if is_scalar_alike(this.owner.node):
                        self._note_read(DataRead(site, this, raises=True, alike=True))
            elif not (this is None or is_number(this)):
                self.having_elements.add(node)
        found = self.subscript(this, index, site)
        return settings.asked(self, this, index, found) if self.asking is not None else found

    def _note_read(self, read: DataRead) -> None:
        """Note what raises, unless something is there to take it that takes little else: then it is meant to."""
        if not is_meant(self, "IndexError"):
            self.facts.append(read._replace(swallowed=is_swallowed(self, "IndexError")))

    def subscript(self, this: Value, index: Value, site: Site) -> Value:
        self.spend()
        if isinstance(this, Tensor):
            return tensors.subscript(self, this, index, site)
        if isinstance(this, (Sequence, Mapping, str, bytes)):
            found = elements.subscript(self, this, index, site)
            return found if isinstance(this, (str, bytes)) else picked(self, found, this, index, site)
        if isinstance(this, Instance):
            raw = self.class_attribute(this.cls, "__getitem__")
            if raw is not MISSING:
                return self.call(self.bind(raw, this, site), [index], {}, site)
            if ITEMS in this.attrs:
                if isinstance(held_by(this), Mapping) and self.key(index) not in held_by(this).items:
                    found = special(self, this, ("__missing__",), [index], site)
                    if found is not MISSING:
                        return found
                if isinstance(index, Slice) and isinstance(this.attrs[ITEMS], Sequence) and is_module(this):
                    return part_of(self, this, index)
                return elements.subscript(self, this.attrs[ITEMS], index, site)
            return self.opaque("item")
        if isinstance(this, Opaque):
            if isinstance(index, str):
                has_names(this)
            if (held := object_arrays.places(this, index)) is not None:
                return elements.subscript(self, held, index, site)
            key = ("[]", self.key(index)) if not isinstance(index, Slice) else ("[]", self.serial())
            if key not in this.attrs:
                this.attrs[key] = self.part(this, "item", site, named=isinstance(index, str))
                sliced_arrays.note_array(this.attrs[key], index, site.node)
            return this.attrs[key]
        if isinstance(this, (Class, External)):
            member = by_name(this, index)
            return this if member is MISSING else member  # `list[int]`, `Optional[Tensor]`: a type
        if isinstance(this, Sym):
            if this.kind == SIZES:
                return part_of_sizes(self, this, index)
            wanted_of_number(self, this, site, "subscript")
            return self.sym(("[]", this.key, self.key(index)))
        if this is None or is_number(this):
            self.refuse(site, "indexes what cannot be indexed", "TypeError")
        return self.opaque("item")


def _is_data(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and node.attr == "data"


def _is_list(node: ast.expr) -> bool:
    """`x.tolist()`, of which it is known that it gives a number."""
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "tolist"


def _is_first(node: ast.Subscript) -> bool:
    """`x[0]`, which is read."""
    return isinstance(node.slice, ast.Constant) and node.slice.value == 0 and isinstance(node.ctx, ast.Load)
