"""Generators and iteration; with these the machine is whole."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from autodetach.machine import iteration, library_objects, object_arrays, open_listings, tensors
from autodetach.machine.enumerations import members_of
from autodetach.machine.generators import yields
from autodetach.machine.graph import Activation, Pass, Site
from autodetach.machine.loops import CONTINUE, MAX_EXACT_ITEMS, RETURN
from autodetach.machine.marks import ITEMS
from autodetach.machine.opened import Leave
from autodetach.machine.passes import MAX_PASSES, MAX_SKIPPED, MOST_PASSES
from autodetach.machine.program_values import Frame, Function, Instance, Iterable
from autodetach.machine.sizes import SIZES, items_of_sizes
from autodetach.machine.state import MISSING, OutOfFuel, Raised
from autodetach.machine.statements import Statements
from autodetach.machine.values import Mapping, Opaque, Sequence, Sym, Tensor, Value


class Machine(Statements):
    """A whole run: feed it a module, then its entry points."""

    def __init__(self, *args: Value) -> None:
        super().__init__(*args)
        self._suspended: list[Activation] = []

    @property
    def tops(self) -> list[Frame]:
        """The names of all files that were run, by file."""
        frames = (self.globals, *(space.frame for space in self.namespaces.values()))
        return list({id(frame): frame for frame in frames}.values())

    def generate(self, function: Function, frame: Frame) -> Iterator[Value]:
        mode = function.grad_mode
        if isinstance(function.node, ast.Lambda):
            return
        running = self._generate_block(function.node.body, frame)
        while True:
            before = self.grad_enabled
            if mode is not None:
                self.grad_enabled = bool(mode)
            try:
                value = next(running, _END)
            finally:
                if mode is not None:
                    self.grad_enabled = before
            if value is _END or isinstance(value, _Signal):
                return
            yield value

    def _generate_block(self, body: list[ast.stmt], frame: Frame) -> Iterator[Value]:
        """As `block`, for bodies that yield; ends with a `_Signal` where control leaves the block."""
        for statement in body:
            if not yields(statement):
                signal = self.block([statement], frame)
                if signal is not None:
                    yield _Signal(signal)
                    return
                continue
            self.spend()
            self.executed.add(statement)
            for value in self._running(statement, frame):
                yield value
                if isinstance(value, _Signal):
                    return

    def _running(self, statement: ast.stmt, frame: Frame) -> Iterator[Value]:
        """What a statement yields; it is among those that run whenever the consumer asks for more."""
        values = self._generate_statement(statement, frame)
        while True:
            self.trail.append((statement, frame))
            try:
                value = next(values, _END)
            finally:
                self.trail.pop()
            if value is _END:
                return
            yield value

    def _generate_statement(self, node: ast.stmt, frame: Frame) -> Iterator[Value]:
        if isinstance(node, ast.If):
            yield from self._generate_block(node.body if self._test(node, frame) else node.orelse, frame)
        elif isinstance(node, (ast.For, ast.AsyncFor)):
            items = self.items_of(self.eval(node.iter, frame), Site(node.iter, frame.qualname))
            exact = items.length is not None and items.length <= MAX_EXACT_ITEMS
            frame.cut = frame.cut or not (exact or items.whole)
            activation = self.activate_over(items, node, frame, exact)
            yield from self._generate_loop(self._passes_over(items, activation, node, frame), activation, node, frame)
        elif isinstance(node, ast.While):
            activation = self.activate(node, frame, False)
            yield from self._generate_loop(self._passes_while(activation, node, frame), activation, node, frame)
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            leaves = []
            for item in node.items:
                leaves.append(
                    self.enter(self.eval(item.context_expr, frame), item, frame, self.site(item.context_expr, frame))
                )
            try:
                yield from self._generate_block(node.body, frame)
            except GeneratorExit:
                self._abandon(leaves)
                raise
            except BaseException:
                _leave(leaves)
                raise
            _leave(leaves)
        elif isinstance(node, ast.Try):
            yield from self._generate_block(node.body, frame)
            yield from self._generate_block(node.finalbody, frame)
        else:
            yield from self._generate_simple(node, frame)

    def _abandon(self, leaves: list[Leave]) -> None:
        """Leave the contexts of a generator that nobody asks any more, be it long after the run.

        Nobody is there to whom an error could be told: Python would write it to the terminal of the user.
        """
        if vars(self):  # not yet dissolved
            with contextlib.suppress(Raised, OutOfFuel, RecursionError):
                _leave(leaves)

    def finish(self, activation: Activation) -> None:
        """End a loop; of generators that it has asked, and whose own loops would go on, this is the end too."""
        super().finish(activation)
        for loop in self._suspended:
            if loop.started > activation.started:
                super().finish(loop)

    def _generate_loop(
        self, passes: Iterator[Pass], activation: Activation, node: ast.For | ast.AsyncFor | ast.While, frame: Frame
    ) -> Iterator[Value]:
        self._suspended.append(activation)
        yield from self._generate_passes(passes, node.body, frame)
        self._suspended.remove(activation)
        self.finish(activation)

    def _generate_passes(self, passes: Iterator[Pass], body: list[ast.stmt], frame: Frame) -> Iterator[Value]:
        for current in passes:
            for value in self._in_pass(current, self._generate_block(body, frame)):
                if isinstance(value, _Signal):
                    if value.name is RETURN:
                        yield value
                    if value.name is not CONTINUE:
                        return
                    break
                yield value

    def _passes_over(
        self, items: Iterable, activation: Activation, node: ast.For | ast.AsyncFor, frame: Frame
    ) -> Iterator[Pass]:
        exact = activation.exact
        steps = items.start(exact)
        frame.gone_over[node] = items
        item: Value = None
        while True:
            if frame.ending:
                for other in self.others_at_end(items, steps, item, activation.passes):
                    current = self._next_pass(activation, other)
                    self.assign(node.target, other, frame)
                    yield current
                return
            item = next(steps, _END)
            if item is _END:
                return
            frame.cut = frame.cut or not (exact or items.whole)
            if not exact and activation.passes >= (MAX_EXACT_ITEMS if items.whole else MAX_PASSES + MAX_SKIPPED):
                frame.cut = True
                return
            current = self._next_pass(activation, item)
            self.assign(node.target, item, frame)
            yield current

    def _passes_while(self, activation: Activation, node: ast.While, frame: Frame) -> Iterator[Pass]:
        for _ in range(MAX_PASSES + MAX_SKIPPED):
            if frame.ending or not self.truth(self.eval(node.test, frame), self.site(node.test, frame), relevant=False):
                return
            yield self._next_pass(activation)
        frame.cut = True

    def _next_pass(self, activation: Activation, item: Value = None) -> Pass:
        outer = self.loops
        self.enter_pass_with(item, activation, outer)
        current, self.loops = self.loops[-1], outer
        return current

    def _in_pass(self, current: Pass, inner: Iterator[Value]) -> Iterator[Value]:
        """Run the body of a generator's loop, as far as its consumer asks."""
        while True:
            outer = self.loops
            self.loops = (*outer, current)
            try:
                value = next(inner)
            except StopIteration:
                return
            finally:
                self.loops = outer
            yield value

    def _generate_simple(self, node: ast.stmt, frame: Frame) -> Iterator[Value]:
        value = getattr(node, "value", None)
        if isinstance(value, ast.YieldFrom):
            items = frame.gone_over[value] = self.items_of(self.eval(value.value, frame), Site(value, frame.qualname))
            for count, item in enumerate(items.start(False)):
                if count >= MAX_EXACT_ITEMS:
                    frame.cut = True
                    break
                yield item
            frame.cut = frame.cut or (items.length is None and not items.whole)
        elif isinstance(value, ast.Yield):
            yield None if value.value is None else self.eval(value.value, frame)
            sent, frame.sent = frame.sent, None
            if isinstance(node, ast.Assign):
                for target in node.targets:
                    self.assign(target, sent, frame)
        else:
            before = len(frame.returns)
            signal = self.block([node], frame)
            yield from frame.returns[before:]
            if signal is not None:
                yield _Signal(signal)

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
            lambda _: self._one_by_one(node, items, self._inner(frame)), items.length, "generator", once=True
        )

    def _one_by_one(self, node: ast.GeneratorExp, items: Iterable, frame: Frame) -> Iterator[Value]:
        activation = self.activate_over(items, node, frame, True)
        self._suspended.append(activation)
        for item in items.start(True):
            outer = self.loops
            try:
                self.enter_pass_with(item, activation, outer)
                self.assign(node.generators[0].target, item, frame)
                value = self.eval(node.elt, frame)
            finally:
                self.loops = outer
            yield value
        self._suspended.remove(activation)
        self.finish(activation)

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
            yield from object_arrays.elements_of(value) or (self.part(value, "item", site) for _ in range(MOST_PASSES))

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
            return Iterable(lambda exact: (self.subscript(value, i, site) for i in range(MOST_PASSES)))
        return library_objects.instance_items(self, value, site)


_END = object()


class _Signal:
    """Control leaves a generator's block; never a value of the program."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def _leave(leaves: list[Leave]) -> None:
    for leave in reversed(leaves):
        leave(None)


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
