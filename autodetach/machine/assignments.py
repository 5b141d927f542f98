"""Execution of what binds names, attributes and elements, and of what takes them away."""

from __future__ import annotations

import ast

from autodetach.machine import cut_parts, elements, joining, object_arrays, tensors, told_by_parts
from autodetach.machine.descriptors import delete_attribute
from autodetach.machine.graph import Node, Site
from autodetach.machine.held import held_by
from autodetach.machine.implicit_calls import own_method, special
from autodetach.machine.imports import Imports
from autodetach.machine.lent import note_lent
from autodetach.machine.marks import ITEMS
from autodetach.machine.module_dicts import is_of_tensors
from autodetach.machine.module_tree import is_module
from autodetach.machine.number_readers import wanted
from autodetach.machine.operators import DUNDER
from autodetach.machine.program_values import External, Frame, Instance
from autodetach.machine.settings import open_written
from autodetach.machine.sizes import size_at
from autodetach.machine.spelling import spelled
from autodetach.machine.state import MISSING
from autodetach.machine.steering import rated
from autodetach.machine.values import SIZES, Mapping, Opaque, Sequence, Sym, Tensor, Value
from autodetach.machine.words import twin_critics


class Assignments(Imports):
    """Expressions plus assignments."""

    def _exec_Assign(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Assign)
        value = self.eval(node.value, frame)
        if isinstance(value, Opaque) and value.node is not None and value.node.site.node is node.value:
            value.node.weak = value.node.weak or (value.node.called and repackages(node))
        counter = _counter_of(node) if type(value) is int and self.widening else None
        if counter is not None and _is_at_most(self.eval(counter, frame), value):
            value = self.fresh("number", lo=value)
        for target in node.targets:
            self.assign(target, value, frame, node.value)
        return None

    def _exec_AnnAssign(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.AnnAssign)
        if node.value is not None:
            self.assign(node.target, self.eval(node.value, frame), frame, node.value)
        return None

    def _exec_AugAssign(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.AugAssign)
        target = node.target
        op = type(node.op).__name__
        if isinstance(target, ast.Name):
            old = self.load(target.id, frame)
        elif isinstance(target, ast.Attribute):
            this = self.eval(target.value, frame)
            old = self.attribute(this, target.attr, Site(target, frame.qualname))
        else:
            this = self.eval(target.value, frame)
            index = self.eval(target.slice, frame)
            old = self.subscript(this, index, Site(target, frame.qualname, ((target.value, this),)))
        right = self.eval(node.value, frame)
        site = Site(node, frame.qualname, ((target, old), (node.value, right)))
        for value in (old, right):
            if type(value) is Sym:
                self.only_numbers |= value.tags
        new = self.augmented(op, old, right, site)
        if isinstance(target, ast.Name):
            self.store_name(target.id, new, frame)
        elif isinstance(target, ast.Attribute):
            self.set_attribute(this, target.attr, new, Site(target, frame.qualname))
        else:
            self.set_item(this, index, new, Site(node, frame.qualname, ((node.value, right),)), None)
        return None

    def augmented(self, op: str, old: Value, right: Value, site: Site) -> Value:
        if isinstance(old, Tensor) and own_method(right, f"__r{DUNDER[op]}__") is None:
            return tensors.augmented(self, op, old, right, site)
        if isinstance(old, (Sequence, Mapping)):
            done = joining.augmented(self, op, old, right, site)
            if done is not MISSING:
                return done
        if (
            isinstance(old, int)
            and isinstance(right, int)
            and op == "Add"
            and right >= 0
            and not isinstance(old, bool)
            and self.widening
        ):
            # A counter of a loop that is cut off after a few passes: it goes on, so only its least value is known.
            return self.fresh("number", lo=old + right)
        if isinstance(old, Instance):
            raw = self.class_attribute(old.cls, f"__i{DUNDER[op]}__")
            if raw is not MISSING:
                return self.call(self.bind(raw, old, site), [right], {}, site)
            if is_module(old):
                wanted(self, [right], site, op)  # a list of parameters makes some of tensors alone
        return self.binary(op, old, right, site)

    def assign(self, target: ast.expr, value: Value, frame: Frame, source: ast.expr | None = None) -> None:
        if self.evidence is not None:
            from autodetach.machine.observations import bound

            value = bound(self, target, value, frame)
        if isinstance(target, ast.Name):
            if frame.declared:
                self.store_name(target.id, value, frame)
            else:
                frame.names[target.id] = value
        elif isinstance(target, ast.Attribute):
            this = self.eval(target.value, frame)
            self.set_attribute(this, target.attr, value, Site(target, frame.qualname))
        elif isinstance(target, ast.Subscript):
            this = self.eval(target.value, frame)
            index = self.eval(target.slice, frame)
            self.set_item(this, index, value, Site(target, frame.qualname), source)
        elif isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(target, value, frame, source)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, value, frame)

    def _unpack(self, target: ast.Tuple | ast.List, value: Value, frame: Frame, source: ast.expr | None) -> None:
        site = Site(target, frame.qualname, ((source, value),) if source is not None else ())
        parts = self.unpacked(value, len(target.elts), site)
        if isinstance(value, Opaque) and value.node is not None and not value.node.leaf:
            for place in twin_critics([t.id if isinstance(t, ast.Name) else "" for t in target.elts]):
                parts[place] = self.subscript(self._alone(value, value.node), place, site)
        sources: list[ast.expr | None] = [None] * len(target.elts)
        if isinstance(source, (ast.Tuple, ast.List)) and len(source.elts) == len(target.elts):
            sources = list(source.elts)
        star = next((i for i, t in enumerate(target.elts) if isinstance(t, ast.Starred)), None)
        if star is None:
            for t, part, s in zip(target.elts, parts, sources, strict=False):
                self.assign(t, part, frame, s)
            return
        after = len(target.elts) - star - 1
        exact = [*parts]
        for t, part in zip(target.elts[:star], exact, strict=False):
            self.assign(t, part, frame)
        tail = exact[len(exact) - after :] if after else []
        self.assign(target.elts[star], Sequence("list", exact[star : len(exact) - after], self.clock), frame)
        for t, part in zip(target.elts[star + 1 :], tail, strict=False):
            self.assign(t, part, frame)

    def _alone(self, value: Opaque, node: Node) -> Opaque:
        """The same result of a call out of view, with a graph of its own."""
        alone = self.opaque(value.name)
        alone.node = self.new_node(
            node.op, node.site, node.parents, node.operands, saves=node.saves, assumed=node.assumed, weak=node.weak
        )
        alone.node.called = node.called
        return alone

    def unpacked(self, value: Value, count: int, site: Site) -> list[Value]:
        """The parts of a value that is unpacked into `count` names."""
        if isinstance(value, Opaque):
            return [self.subscript(value, i, site) for i in range(count)]
        if isinstance(value, Tensor):
            return [tensors.subscript(self, value, i, site) for i in range(count)]
        if isinstance(value, Sym) and value.kind == SIZES:
            return [size_at(self, value, i) for i in range(count)]
        if value is None:
            self.refuse(site, "unpacks None", "TypeError")
        parts, _ = self.collect(value, site)
        while len(parts) < count:
            parts.append(self.opaque("item"))
        return parts

    def set_item(self, this: Value, index: Value, value: Value, site: Site, source: ast.expr | None) -> None:
        if isinstance(index, (Sym, Opaque)):
            open_written(self, this)
        if not isinstance(this, Mapping):
            rated(self, this, index, value, site)
        if isinstance(this, Tensor):
            at = site if source is None else Site(site.node, site.scope, ((source, value),))
            tensors.set_item(self, this, index, value, at)
        elif isinstance(this, (Sequence, Mapping)):
            if isinstance(this, Mapping) and is_of_tensors(this):
                wanted(self, [value], site, "[]")
            elements.set_item(self, this, index, value, source, site)
        elif isinstance(this, Instance):
            raw = self.class_attribute(this.cls, "__setitem__")
            if raw is not MISSING:
                at = site if source is None else Site(site.node, site.scope, ((source, value),))
                self.call(self.bind(raw, this, site), [index, value], {}, at)
            elif ITEMS in this.attrs:
                if is_module(this):
                    wanted(self, [value], site, "[]")
                elements.set_item(self, this.attrs[ITEMS], index, value, source, site)
        elif isinstance(this, Opaque):
            if object_arrays.set_places(self, this, index, value, source, site):
                self.escape([value], site, "[]")
                return
            key = ("[]", self.key(index))
            if not cut_parts.is_of_tensor(index):
                cut_parts.cut_by_store(self, this, key, value, named=isinstance(index, str))
                told_by_parts.number_put(self, this, key, value, site, source)
            this.attrs[key] = value
            self.escape([value], site, "[]")
        elif isinstance(this, External):
            note_lent(self, [value])

    def _exec_Delete(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.Delete)
        for target in node.targets:
            if isinstance(target, ast.Name):
                frame.names.pop(target.id, None)
            elif isinstance(target, ast.Attribute):
                this = self.eval(target.value, frame)
                if isinstance(this, Instance):
                    delete_attribute(self, this, target.attr, Site(target, frame.qualname))
                elif isinstance(this, Opaque):
                    this.attrs.pop(target.attr, None)
            elif isinstance(target, ast.Subscript):
                this, index = self.eval(target.value, frame), self.eval(target.slice, frame)
                if special(self, this, ("__delitem__",), [index], Site(target, frame.qualname)) is MISSING:
                    elements.delete(self, held_by(this), index)
        return None


def _counter_of(node: ast.Assign) -> ast.expr | None:
    """`n` of `n = n + 1`, and of `self.size = min(self.size + 1, self.capacity)`, as memories count what they hold."""
    if len(node.targets) != 1:
        return None
    name, value = spelled(node.targets[0]), node.value
    sums = value.args if isinstance(value, ast.Call) and spelled(value.func) == "min" else [value]
    added = (s.left for s in sums if isinstance(s, ast.BinOp) and isinstance(s.op, ast.Add))
    return next((left for left in added if spelled(left) == name), None)


def _is_at_most(before: Value, value: int) -> bool:
    """Whether a number has not become less: what counts down is known, as one from which something is taken."""
    return not isinstance(before, int) or before <= value


def repackages(node: ast.Assign) -> bool:
    """`h = f(h)` with an `f` from elsewhere: as likely as not it detaches, as `repackage_hidden` does."""
    call = node.value
    return (
        isinstance(call, ast.Call)
        and len(call.args) == 1
        and not call.keywords
        and len(node.targets) == 1
        and spelled(call.args[0]) == spelled(node.targets[0])
    )
