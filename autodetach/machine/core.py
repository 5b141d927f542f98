"""What the parts of the machine call of each other, and the primitive operations on containers and loops."""

from __future__ import annotations

import ast
from collections.abc import Callable, Hashable, Iterable, Iterator
from typing import NoReturn

from autodetach.machine.activations import Activation, Loops, Pass
from autodetach.machine.called_back import CALLABLE, given
from autodetach.machine.events import Drawn, Escape, Stored, TypeFault
from autodetach.machine.graph import Differentiation, Lost, Node, Site
from autodetach.machine.held import graph_in, graph_kept_of, held_by, tensors_in
from autodetach.machine.marks import HELD, WEIGHTS
from autodetach.machine.nested import give_away, holders_of, note_holder
from autodetach.machine.passes import MAX_PASSES
from autodetach.machine.program_values import Class, External, Frame, Instance, NamesOf, Namespace
from autodetach.machine.program_values import Iterable as Iterable_
from autodetach.machine.restraints import ToldApart
from autodetach.machine.state import MAX_LISTED, Kept, Raised
from autodetach.machine.tape import Tape
from autodetach.machine.unlike import KEPT
from autodetach.machine.values import CONSTANT_TYPES, Mapping, Opaque, Sequence, Sym, Tensor, Value

OF_MODULES = frozenset({"item", "_modules"})
"""Parts of a module that are modules too, or hold them: what it gives one after the other, or by name."""
MAX_IN_KEY = 8
"""So many parts of a key are looked at."""
WITHOUT_PARTS = CONSTANT_TYPES | {Tensor, Opaque}
"""The types of what has no numbers in it."""

TAKEN = 2
"""So many are taken of the first few of a generator, of whose loops no more passes are executed than a few."""


class Core(Tape):
    """One run of one program along one path; knows no Python syntax."""

    # ---- facts

    def type_fault(self, site: Site, text: str, kind: str = "type", lost: tuple[Lost, ...] = ()) -> None:
        self.type_faults.append(TypeFault(site, text, kind, lost))

    def refuse(self, site: Site, text: str, name: str = "AttributeError") -> NoReturn:
        """The program does what Python refuses: record it and raise."""
        self.type_fault(site, text)
        raise Raised(name)

    def break_off(self, known: int, begun: int = 0) -> None:
        """What had `begun` ends by an error: by the last of the type faults, if there were only `known` ones then."""
        if any(d.number > begun for d in self.differentiations[-1:]):
            self.cut_short.note(begun, self.clock)
        self.broken_off += self.type_faults[known:][-1:]
        if self.setting_asked is not None:
            self.suspected_settings.append(self.setting_asked)

    def escape(self, values: Iterable[Value], site: Site, how: str, *, later: bool = True) -> None:
        """Code that is not in view gets some values, and keeps them, unless it reads them now and not `later`."""
        nodes: list[Node] = []
        tags: set[object] = set()
        callables: list[Value] = []
        values = list(values)
        for value in values:
            if type(value) in CONSTANT_TYPES:
                continue
            if later and type(value) in CALLABLE:
                callables.append(value)
            found = list(tensors_in(value))
            made = [this for this in found if isinstance(this, Opaque) and HELD in this.attrs]
            found += (t for this in made for kept in this.attrs.values() for t in tensors_in(kept))
            nodes.extend(t.node for t in found if t.node is not None and not t.node.leaf)
            tags.update(tags_in(value))
            if later:
                give_away(value)
            else:
                self.note_read(value)
        if later:
            self.untaken.given_away(self.clock)
            if callables:
                self.restraints += given(callables, values)
        if nodes or tags:
            self.escapes.append(Escape(tuple(dict.fromkeys(nodes)), site, self.tick(), how, frozenset(tags)))

    def tell_apart(self, value: Value) -> None:
        """Note of a tensor with history, or of those in a tuple, that it matters which one it is."""
        if isinstance(value, (Tensor, Opaque)):
            if value.node is not None and not value.node.leaf:
                self.restraints.append(ToldApart(value))
        elif isinstance(value, Sequence) and value.kind == "tuple":
            for item in value.items[:MAX_IN_KEY]:
                self.tell_apart(item)

    def call_left_out(self, name: str, inputs: list[Value], site: Site) -> Opaque:
        """What comes of a callable that is at hand, and too much to be looked at: nothing is assumed of its history."""
        self.escape(inputs, site, name)
        return self.opaque(name)

    def note_read(self, value: Value, *, whole: bool = True) -> None:
        """Note that elements of a container may be taken from it, or only one if not `whole`: nothing says which."""
        kind = type(value)
        if kind is Tensor or kind is Opaque or kind is Sym:
            return  # asked of each argument of a call
        held = held_by(value)
        if isinstance(held, (Sequence, Mapping)):
            held.read = max(held.read, self.clock)
            self.untaken.read(held, self.clock, whole=whole)
            if type(held) is NamesOf:
                self.read_names(held)

    def read_names(self, held: NamesOf) -> None:
        """What has names in a frame is read by some of them, nobody knows which."""
        values = [value for value in held.frame.visible().values() if type(value) is not NamesOf]
        place = self.trail[-1][0] if self.trail else ast.Pass()
        self.escape(values, Site(place, held.frame.qualname), "names", later=False)

    def store(
        self, container: Sequence | Mapping, value: Value, element: ast.expr | None, site: Site, how: str
    ) -> None:
        if type(value) in KEPT and value not in self.places:
            self.places[value] = site, self.chain
        note_holder(container, value, self.held)
        if self.watched is not None:
            self.watched.append(Kept(container, value, element, site, how))
        for t, of in graph_kept_of(value):
            if t.node is not None and not t.node.leaf:
                version = t.storage.changes if isinstance(t, Tensor) else 0
                event = Stored(
                    container, t, site, element, value, self.loops, self.tick(), how,
                    node=t.node, chain=self.chain, version=version, gradient_of=of,
                )  # fmt: skip
                self.stored.append(event)
                self.stored_in.setdefault(container, []).append(event)
                self.untaken.stored(event)
                self._fill(event)

    def _fill(self, event: Stored) -> None:
        """What was stored is in other containers, too, that have held its own since that was made in an open pass."""
        if self.loops:
            for outer, value in holders_of(event.container, self.loops[0].started):
                event = event.of_holder(outer, value)
                self.filled.append(event)

    def draw(
        self,
        taken: Value,
        items: list[Value],
        *,
        in_order: bool = False,
        more: bool = False,
        place: Hashable = None,
    ) -> Value:
        """One element stands for any of the items, since nobody knows which is read; what was taken."""
        others = [item for item in items if item is not taken]
        self.note_drawn([taken], others, in_order=in_order, more=more, place=place)
        return taken

    def note_drawn(
        self,
        taken: list[Value],
        others: list[Value],
        *,
        in_order: bool = False,
        more: bool = False,
        since: int | None = None,
        place: Hashable = None,
    ) -> None:
        """Some elements of a container are read, and nobody knows which: for what is taken, others may be meant.

        With `more`, the container may hold others than these. They were taken after the clock was `since`, or now.
        """
        own, rest = (
            {t.node: None for v in values for t in graph_in(v, 3) if t.node is not None and not t.node.leaf}
            for values in (taken, others)
        )
        if own and (rest or more):
            clock = self.clock if since is None else since
            self.drawn.append(Drawn(tuple(own), frozenset(rest), clock, in_order, self.loops, place))

    # ---- what the layers above provide

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        raise NotImplementedError

    def call_method(self, this: Value, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Value:
        raise NotImplementedError

    def attribute(self, value: Value, name: str, site: Site) -> Value:
        raise NotImplementedError

    def call_unknown(self, name: str, args: list[Value], kwargs: dict[str, Value], site: Site) -> Opaque:
        raise NotImplementedError

    def call_unknown_method(
        self, this: Value, name: str, args: list[Value], kwargs: dict[str, Value], site: Site
    ) -> Opaque:
        return self.call_unknown(name, [this, *args], kwargs, site)

    def run_hooks(self, d: Differentiation, site: Site) -> None:
        raise NotImplementedError

    def eval(self, node: ast.expr, frame: Frame) -> Value:
        raise NotImplementedError

    def subscript(self, this: Value, index: Value, site: Site) -> Value:
        raise NotImplementedError

    def binary(self, op: str, left: Value, right: Value, site: Site) -> Value:
        """A binary operator by the name of its class in `ast`."""
        raise NotImplementedError

    def compare(self, op: str, left: Value, right: Value, site: Site) -> Value:
        """A comparison by the name of its class in `ast`."""
        raise NotImplementedError

    def lookup(self, value: Value, name: str, site: Site) -> Value:
        """As `attribute`, but MISSING where the value certainly has no such attribute."""
        raise NotImplementedError

    def class_attribute(self, cls: Class | External, name: str) -> Value:
        """The raw entry for `name` in the order of look-up, or MISSING."""
        raise NotImplementedError

    def open_context(self, context: Value, site: Site) -> tuple[Value, Callable[[Raised | None], bool]]:
        """Enter a context: what its name is bound to, and what leaves it, and says whether it swallows an error."""
        raise NotImplementedError

    def set_attribute(self, value: Value, name: str, new: Value, site: Site) -> None:
        raise NotImplementedError

    def fetched(self, frame: Frame, name: str) -> Value:
        """A name that is bound in a frame; what an imported file imports itself is looked up only then."""
        raise NotImplementedError

    def imported(self, name: str) -> Value:
        """The file of the project that a function imports by a dotted name, here; MISSING where there is none."""
        raise NotImplementedError

    def module_attribute(self, space: Namespace, name: str) -> Value:
        """A name of an imported file."""
        raise NotImplementedError

    def items_of(self, value: Value, site: Site) -> Iterable_:
        """What a loop over `value` runs through."""
        raise NotImplementedError

    def known_truth(self, value: Value, site: Site) -> bool | None:
        """The truth of a value where it is known, or follows from a test that was decided before."""
        raise NotImplementedError

    def truth(self, value: Value, site: Site, default: bool = True, relevant: bool = True) -> bool:
        raise NotImplementedError

    def part(self, value: Opaque, name: str, site: Site, *, named: bool = False) -> Opaque:
        """An attribute or element of something unknown; it has history if the whole has.

        Of a dict, where elements are `named`, that is assumed of each: an accuracy beside the loss is a number.
        """
        child = self.opaque(name)
        child.born = value.born
        child.lost = value.lost
        child.owner = value
        child.origin = value.origin
        if name in OF_MODULES and WEIGHTS in value.attrs:
            child.attrs[WEIGHTS] = value.attrs[WEIGHTS]
        if value.node is not None and self.grad_enabled:
            child.node = self.new_node(
                "part", site, (value.node,), (value,), saves=False, assumed=named or value.node.assumed,
                weak=value.node.weak,
            )  # fmt: skip
        return child

    def items_first(self, value: Value, index: int, site: Site) -> Value:
        """The element of an iterable that stands for place `index`."""
        items, _ = self.collect(value, site)
        return items[min(index, len(items) - 1)] if items else self.opaque("item")

    def collect(self, value: Value, site: Site, limit: int = 16) -> tuple[list[Value], bool]:
        """The elements of an iterable, and whether these are all: at most `limit`, else a few representatives."""
        items = self.items_of(value, site)
        limit = MAX_LISTED if items.listed else limit
        exact = items.length is not None and items.length <= limit
        result: list[Value] = []
        bound = limit if exact or items.once else MAX_PASSES
        if items.name == "islice" and items.frame is not None and not exact:
            bound = TAKEN  # whoever goes on with it finds something
        for item in items.start(exact):
            result.append(item)
            if len(result) >= bound:
                if not exact and items.others is not None:
                    result += items.others(len(result))
                return result, exact
        return result, exact or items.whole

    # ---- loops

    def rounds(self) -> Iterator[int]:
        """The numbers of the passes of a loop over what has nobody knows how many items."""
        number = 0
        while number < max(MAX_PASSES, self.oracle.awaited):
            yield number
            number += 1

    def await_passes(self, activation: Activation, number: int) -> None:
        """A loop has so many passes at least."""
        activation.awaited = max(activation.awaited, number)
        self.oracle.awaited = max(self.oracle.awaited, number)

    def activate(self, node: ast.AST | None, frame: Frame | None, exact: bool) -> Activation:
        activation = Activation(self._loops_begun, node, frame, self.tick(), exact)
        self._loops_begun += 1
        activation.in_forward = self.in_forward > 0
        activation.without_grad = not self.grad_enabled
        activation.before = self.loops[-1].activation.shown.get(node) if self.loops else None
        activation.inner = self.in_module and isinstance(node, ast.While)
        self.activations.append(activation)
        return activation

    def enter_pass(self, activation: Activation, outer: Loops) -> Pass:
        current = Pass(activation, activation.passes, self.tick())
        activation.passes += 1
        activation.begun.append(len(self.ways))
        if activation.node is not None:
            self.ways.append((activation.node, True))
        self.loops = (*outer, current)
        if self.on_pass is not None:
            self.on_pass(current)
        return current

    def activate_over(self, items: Iterable_, node: ast.AST, frame: Frame, exact: bool) -> Activation:
        """Begin a loop over `items`."""
        raise NotImplementedError

    def enter_pass_with(self, item: Value, activation: Activation, outer: Loops) -> None:
        """Begin the pass of an item; what it is tells of the loop."""
        raise NotImplementedError

    def finish(self, activation: Activation) -> None:
        """End a loop."""
        raise NotImplementedError

    def others_at_end(
        self, items: Iterable_, steps: Iterator[Value], usual: Value, passed: int | None = None
    ) -> Iterator[Value]:
        """What is unlike the items that have `passed`, of which no more are looked at, and how a generator ends."""
        raise NotImplementedError

    @property
    def widening(self) -> bool:
        """Whether an enclosing loop has gone on further than is executed, so that its counters are unknown."""
        return any(p.index > 0 and not p.activation.exact for p in self.loops)

    def truncated_since(self, born: int) -> bool:
        """Whether a loop that began after `born` is executed in fewer passes than the program makes."""
        return any(not p.activation.exact and p.started > born for p in self.loops)


def tags_in(value: Value, depth: int = 4) -> set[object]:
    """The marks that numbers inside a value carry (which `.item()` they came from)."""
    if type(value) is Sym:
        return set(value.tags)
    tags: set[object] = set()
    if depth <= 0 or type(value) in WITHOUT_PARTS:
        return tags
    if isinstance(value, Sequence):
        for item in value.items[:64]:
            tags |= tags_in(item, depth - 1)
    elif isinstance(value, Mapping):
        for _, item in list(value.items.values())[:64]:
            tags |= tags_in(item, depth - 1)
    elif isinstance(value, Instance):
        for item in list(value.attrs.values())[:64]:
            tags |= tags_in(item, depth - 2)
    return tags


Args = list[Value]
"""Positional arguments."""
Named = dict[str, Value]
"""Arguments by name."""
Handler = Callable[[Core, Args, Named, Site], Value]
"""What is done for a function out of view, and where."""
