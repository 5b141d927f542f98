"""Execution of loops: a few passes stand for all, and each is told apart."""

from __future__ import annotations

import ast
from collections.abc import Generator, Iterator
from contextlib import closing
from itertools import chain, islice

from autodetach.kept import kept
from autodetach.machine.activations import Activation, Loops
from autodetach.machine.children import nodes_in, walk
from autodetach.machine.definitions import Definitions
from autodetach.machine.generators import ends
from autodetach.machine.graph import Site
from autodetach.machine.held import contents
from autodetach.machine.marks import WEIGHTS
from autodetach.machine.module_tree import is_module
from autodetach.machine.passes import is_cut_short, note_training
from autodetach.machine.program_values import Frame, Iterable
from autodetach.machine.progress_bars import COUNTED
from autodetach.machine.ranges import usual_length
from autodetach.machine.replacing import MOST, replaces_each
from autodetach.machine.spelling import spelled
from autodetach.machine.state import MAX_EXACT, MAX_LISTED
from autodetach.machine.still_there import Looking
from autodetach.machine.told_of_values import is_number
from autodetach.machine.unknown_keys import is_known
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value
from autodetach.machine.words import names_loader

BREAK, CONTINUE, RETURN = "break", "continue", "return"
"""How control leaves a block."""
MAX_EXACT_ITEMS = 8
MAX_EXACT_PAIRS = 16
"""What a dict holds is rarely alike, a loss, a norm, a rate: so many of its values are each looked at."""
UNROLLED = 64
"""As many steps of a counter in a function as a network may unroll: words of a sentence, steps of a solver."""
BOUNDED = 16
"""A loop of so few passes over something in view is bounded by its structure: over layers, classes, gates."""


class Looping(Definitions):
    """Definitions plus loops."""

    executed: set[ast.stmt]

    def passes(self, node: ast.For | ast.AsyncFor, frame: Frame) -> Generator[Value, None, None]:
        """The items of a `for` loop, as many as are executed; each begins a pass."""
        items = self.items_of(self.eval(node.iter, frame), Site(node.iter, frame.qualname))
        limit = MAX_EXACT if items.name in ("range", "enumerate", COUNTED) else MAX_EXACT_ITEMS
        if items.name in ("items", "values"):
            limit = MAX_EXACT_PAIRS
        if items.listed:  # what is done to each part of a network, is done to all
            limit = UNROLLED if self.loops else MAX_LISTED
        exact = items.length is not None and items.length <= limit
        activation = self.activate_over(items, node, frame, exact)
        is_each = not exact and replaces_each(node)
        outer = self.loops
        try:
            steps, usual = items.start(exact), None
            for item in steps:
                if not exact and self._is_enough(activation, items, is_each=is_each):
                    for other in self.others_at_end(items, chain((item,), steps), usual, activation.passes):
                        self.enter_pass_with(other, activation, outer)
                        yield other
                        self.loops = outer
                    break
                self.enter_pass_with(item, activation, outer)
                yield item
                self.loops, usual = outer, item
        finally:
            self.loops = outer
            self.finish(activation)

    def _is_enough(self, activation: Activation, items: Iterable, *, is_each: bool) -> bool:
        """Whether no more items are looked at, of which not all are known, or too many; see `replaces_each`."""
        if is_each:
            return activation.passes >= MOST
        return activation.passes >= MAX_EXACT_ITEMS if items.whole else is_cut_short(activation, self.nodes, self.ways)

    def others_at_end(
        self, items: Iterable, steps: Iterator[Value], usual: Value, passed: int | None = None
    ) -> Iterator[Value]:
        """Go on with a generator of the file, of whose items no more are looked at, to its end, as the program does.

        Gives what is no tensor where others are: the text or the summary that a trainer yields behind its losses. And
        of the elements of a container, those that are unlike the ones that have `passed`.
        """
        if items.others is not None and passed is not None:
            yield from items.others(passed)
        generator = items
        while generator.inner is not None:
            generator = generator.inner
        frame = generator.frame if generator.name != "islice" else None  # the program does not go to the end of that
        if frame is not None and not frame.ending and frame.function is not None and ends(frame.function.node):
            frame.ending = frame.cut = True
            for item in islice(steps, MAX_EXACT_ITEMS):
                if is_no_tensor(item, usual):
                    yield item
            for _ in islice(generator.start(False), MAX_EXACT_ITEMS):
                pass

    def activate_over(self, items: Iterable, node: ast.AST, frame: Frame, exact: bool) -> Activation:
        activation = self.activate(node, frame, exact)
        activation.length, activation.usual = items.length, items.usual
        activation.bounded = items.length is not None and items.length <= BOUNDED and items.name != "loader"
        if activation.bounded and isinstance(node, ast.For) and names_loader(node.iter):
            activation.bounded = activation.short = False  # a few in an example stand for the many of a loader
            return activation
        unrolled = items.name == "range" and frame.outer is not None and (items.usual or 0) <= UNROLLED
        is_many = items.length is None and (items.usual or 0) > UNROLLED
        activation.short = activation.bounded or (items.short and not is_many) or unrolled
        activation.inner = self.in_module and activation.short
        return activation

    def enter_pass_with(self, item: Value, activation: Activation, outer: Loops) -> None:
        if has_module(item):  # the layers of a network, one after the other
            activation.bounded = activation.short = activation.over_modules = True
            activation.inner = self.in_module
        elif is_batch(item):  # of a loader, too
            activation.bounded = activation.short = False
        elif is_old_parameter(item, activation.started):
            activation.over_parameters = True
        self.enter_pass(activation, outer)

    def finish(self, activation: Activation) -> None:
        """A loop has ended; of generators that it has asked, and whose own loops would go on, this is the end too."""
        self._end(activation)
        for loop in self.suspended:
            if loop.started > activation.started:
                self._end(loop)

    def _end(self, activation: Activation) -> None:
        """Note what was stored during it in what is older than it, and is still there."""
        if self.loops and self.differentiations:
            note_training(activation, self.loops[-1].activation, self.differentiations[-1], self.ways)
        looking = Looking(activation)
        for events in (self.stored, self.filled):
            for event in reversed(events):
                if event.clock < activation.started:
                    break
                if event.container.dropped > activation.started:
                    activation.dropping.add(id(event.container))
                if looking.finds(event):
                    event.held.add(activation.number)

    def _exec_For(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, (ast.For, ast.AsyncFor))
        with closing(self.passes(node, frame)) as items:
            for item in items:
                self.assign(node.target, item, frame)
                signal = self.block(node.body, frame)
                if signal is BREAK:
                    return None
                if signal is RETURN:
                    return signal
                self.loops[-1].activation.skipped += signal is CONTINUE
        return self.block(node.orelse, frame)

    def _exec_AsyncFor(self, node: ast.stmt, frame: Frame) -> str | None:
        return self._exec_For(node, frame)

    def _exec_While(self, node: ast.stmt, frame: Frame) -> str | None:
        assert isinstance(node, ast.While)
        activation = self.activate(node, frame, False)
        self._look_how_far(activation, node, frame)
        outer = self.loops
        limit = limit_of_length(node)
        most = self.eval(limit, frame) if limit is not None else None
        memory = measured(node)
        kept = self.eval(memory, frame) if memory is not None else None
        is_far = _is_much(most) or _holds_all(kept, most)
        drops_one = overfull(node) is not None
        try:
            while not is_cut_short(activation, self.nodes, self.ways) or self._has_others(node, frame):
                self.enter_pass(activation, outer)
                value = self.eval(node.test, frame)
                if is_far or not self.truth(value, self.site(node.test, frame), relevant=False):
                    break
                if drops_one and self._is_one_left(kept, most):
                    self.executed.update(node.body)
                    break
                signal = self.block(node.body, frame)
                if signal is BREAK:
                    return None
                if signal is RETURN:
                    return signal
                activation.skipped += signal is CONTINUE
            else:
                self._go_on_until(node, frame)
        finally:
            self.loops = outer
            self.finish(activation)
        return self.block(node.orelse, frame)

    def _look_how_far(self, activation: Activation, node: ast.While, frame: Frame) -> None:
        """A loop that counts is as long as the range would be; what fills a list until there is enough is no longer."""
        from autodetach.machine.counted_loops import counted

        counts = counted(node)
        if counts is None:
            return
        start, limit = self.eval(counts.counter, frame), self.eval(counts.limit, frame)
        usual = activation.usual = usual_length(self, start, limit, counts.step)
        if not isinstance(counts.counter, ast.Call):
            return
        is_known = type(start) is int and type(limit) is int
        activation.bounded = is_known and usual is not None and usual <= BOUNDED
        activation.short = activation.bounded or (frame.outer is not None and (usual or 0) <= UNROLLED)

    def _is_one_left(self, kept: Value, most: Value) -> bool:
        """Whether a loop that drops what is too old has come to the latest, which stands for as many as are kept."""
        if not isinstance(kept, Sequence) or kept.exact or len(kept.items) != 1:
            return False
        if isinstance(most, int) and most < 2:
            return False
        kept.dropped = self.clock
        return True

    def _has_others(self, node: ast.While, frame: Frame) -> bool:
        """Whether a generator that a loop asks by `next(source, None)` has something that is no tensor at its end."""
        for name in asked_for_next(node):
            source = frame.names.get(name)
            if isinstance(source, Iterable) and source.running is not None and is_no_tensor(None, source.latest):
                other = next(self.others_at_end(source, source.running, source.latest), None)
                if other is not None:
                    source.running = iter([other])
                    return True
        return False

    def _go_on_until(self, node: ast.While, frame: Frame) -> None:
        """A loop is left that goes on further than is executed: the numbers that its test asks for are others then."""
        asked = {n.id for n in nodes_in(node.test) if isinstance(n, ast.Name)}
        inside = [n for s in node.body for n in nodes_in(s) if isinstance(n, ast.Name)]
        for name in sorted(asked.intersection(n.id for n in inside if isinstance(n.ctx, ast.Store))):
            if type(frame.names.get(name)) is int:
                frame.names[name] = self.fresh("number")

    def _exec_Break(self, node: ast.stmt, frame: Frame) -> str | None:
        return BREAK

    def _exec_Continue(self, node: ast.stmt, frame: Frame) -> str | None:
        return CONTINUE


def has_module(item: Value) -> bool:
    """A module, alone or with its number or name, or with others: `enumerate(zip(convolutions, norms))`."""
    if isinstance(item, Sequence):
        return item.kind == "tuple" and any(map(has_module, item.items))
    return is_module(item) or (isinstance(item, Opaque) and WEIGHTS in item.attrs)


def is_old_parameter(item: Value, started: int) -> bool:
    """A parameter that was made before the loop, alone or with its number or name."""
    if isinstance(item, Sequence):
        return item.kind == "tuple" and any(is_old_parameter(part, started) for part in item.items)
    return isinstance(item, Tensor) and item.parameter and item.node is not None and item.node.number < started


@kept
def asked_for_next(loop: ast.While) -> list[str]:
    """The names of iterators that a loop asks for what is next, and that may come to their end in it."""
    calls = [n for n in walk(loop) if isinstance(n, ast.Call) and len(n.args) == 2 and spelled(n.func) == "next"]
    return list(dict.fromkeys(call.args[0].id for call in calls if isinstance(call.args[0], ast.Name)))


def is_no_tensor(item: Value, usual: Value) -> bool:
    """Whether an item is surely no tensor where another one is a tensor with history; or so are parts of the two."""
    if isinstance(item, Sequence) and isinstance(usual, Sequence) and len(item.items) == len(usual.items):
        return any(map(is_no_tensor, item.items, usual.items))
    is_usual = isinstance(usual, (Tensor, Opaque)) and usual.node is not None and not usual.node.weak
    return is_usual and not isinstance(item, (Tensor, Opaque))


def is_batch(item: Value) -> bool:
    """Inputs and targets: a tuple of tensors without history, or a dict of them, and of names and numbers."""
    if isinstance(item, Mapping):
        parts = [part for part in contents(item) if not (isinstance(part, str) or is_number(part))]
    else:
        parts = item.items if isinstance(item, Sequence) and item.kind == "tuple" else []
    return len(parts) > 1 and all(isinstance(part, Tensor) and part.node is None for part in parts)


def limit_of_length(node: ast.While | ast.If) -> ast.expr | None:
    """The capacity in `while len(memory) > capacity: memory.popleft()`, or with `if`."""
    test = node.test
    if not (isinstance(test, ast.Compare) and isinstance(test.ops[0], (ast.Gt, ast.GtE))):
        return None
    limit = test.comparators[0]
    of_length = isinstance(test.left, ast.Call) and spelled(test.left.func) == "len"
    drops = all(
        isinstance(statement, ast.Delete)
        or (
            isinstance(statement, (ast.Expr, ast.Assign))
            and isinstance(statement.value, ast.Call)
            and isinstance(statement.value.func, ast.Attribute)
            and statement.value.func.attr in ("pop", "popleft", "popitem")
        )
        for statement in node.body
    )
    return limit if of_length and drops and isinstance(limit, (ast.Name, ast.Attribute, ast.Constant)) else None


def measured(node: ast.While) -> ast.expr | None:
    """The memory in `while len(memory) > capacity: memory.popitem()`."""
    of_length = node.test.left if isinstance(node.test, ast.Compare) and limit_of_length(node) is not None else None
    given = of_length.args[0] if isinstance(of_length, ast.Call) and of_length.args else None
    return given if isinstance(given, (ast.Name, ast.Attribute)) else None


def _holds_all(kept: Value, limit: Value) -> bool:
    """Whether the keys of a dict are all known, and no more than it may have: none is dropped, as of a few series."""
    if not isinstance(kept, Mapping) or not isinstance(limit, int):
        return False
    return 0 < len(kept.items) <= limit and all(is_known(key) for key, _ in kept.items.values())


def overfull(node: ast.If | ast.While) -> ast.expr | None:
    """The memory in `if len(memory) > capacity: memory.pop(0)`: one is dropped."""
    limit, drop = limit_of_length(node), node.body[0]
    if limit is None or node.orelse or len(node.body) > 1 or not isinstance(node.test, ast.Compare):
        return None
    if isinstance(limit, ast.Constant) and not (isinstance(limit.value, int) and limit.value > 1):
        return None
    dropped = None
    if isinstance(drop, ast.Expr) and isinstance(drop.value, ast.Call) and isinstance(drop.value.func, ast.Attribute):
        dropped = drop.value.func.value
    elif isinstance(drop, ast.Delete) and isinstance(drop.targets[0], ast.Subscript):
        dropped = None if isinstance(drop.targets[0].slice, ast.Slice) else drop.targets[0].value
    memory = node.test.left.args[0] if isinstance(node.test.left, ast.Call) and node.test.left.args else None
    if not isinstance(memory, (ast.Name, ast.Attribute)) or dropped is None or spelled(memory) != spelled(dropped):
        return None
    return memory


def _is_much(limit: Value) -> bool:
    """Whether the few passes that are executed are far from filling something, as they are for `deque(maxlen=...)`."""
    return isinstance(limit, int) and limit > UNROLLED
