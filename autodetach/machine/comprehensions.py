"""Comprehensions and generator expressions: loops in a frame of their own."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.expressions import Expressions
from autodetach.machine.implicit_calls import hash_all
from autodetach.machine.program_values import Frame, Iterable
from autodetach.machine.state import MAX_LISTED
from autodetach.machine.values import Mapping, Sequence, Value


class Comprehensions(Expressions):
    """Expressions plus comprehensions."""

    def __init__(self, *args: Value) -> None:
        super().__init__(*args)
        self._guesses = 0  # how many elements have passed a filter of which nobody knows how it decides

    def comprehension(
        self, node: ast.expr, generators: list[ast.comprehension], frame: Frame, depth: int = 0
    ) -> Iterator[Frame]:
        """One frame an element; each `for` is a loop with passes."""
        if depth == len(generators):
            yield frame
            return
        generator = generators[depth]
        items = self.items_of(self.eval(generator.iter, frame), self.site(generator.iter, frame))
        limit = MAX_LISTED if items.listed else 16
        exact = items.length is not None and items.length <= limit
        activation = self.activate_over(items, node, frame, exact)
        outer = self.loops
        try:
            limit = limit if exact else 3
            for item in items.start(exact):
                if activation.passes >= (8 if items.whole else limit):
                    break
                self.spend(5)
                self.enter_pass_with(item, activation, outer)
                self.assign(generator.target, item, frame)
                if all(self._passes(test, frame) for test in generator.ifs):
                    yield from self.comprehension(node, generators, frame, depth + 1)
                self.loops = outer
            else:
                activation.exact = exact or items.whole
        finally:
            self.loops = outer
            self.finish(activation)

    def _passes(self, test: ast.expr, frame: Frame) -> bool:
        """Whether an element passes the filter of a comprehension."""
        value, site = self.eval(test, frame), self.site(test, frame)
        known = self.known_truth(value, site)
        if known is not None:
            return known
        self._guesses += 1
        return self.decided(value, site, True, False)

    def assign(self, target: ast.expr, value: Value, frame: Frame) -> None:
        raise NotImplementedError

    def _inner(self, frame: Frame) -> Frame:
        return Frame(frame, frame.qualname, None)

    def _exact(self, node: ast.expr, started: int) -> bool:
        """Whether all elements are known: of its own loops, not of those that an element needs."""
        return all(a.exact for a in self.activations[started:] if a.node is node)

    def _eval_ListComp(self, node: ast.ListComp, frame: Frame) -> Value:
        started, born, guesses = len(self.activations), self.clock, self._guesses
        values = [self.eval(node.elt, f) for f in self.comprehension(node, node.generators, self._inner(frame))]
        made = Sequence("list", values, born, self._exact(node, started))
        if self._guesses > guesses:
            made.filled = self.fresh("bool")
        made.room = isinstance(node.elt, ast.Constant) and not made.exact
        return made

    def _eval_SetComp(self, node: ast.SetComp, frame: Frame) -> Value:
        born = self.clock
        values = [self.eval(node.elt, f) for f in self.comprehension(node, node.generators, self._inner(frame))]
        hash_all(self, values, self.site(node, frame))
        return Sequence("set", values, born, False)

    def _eval_DictComp(self, node: ast.DictComp, frame: Frame) -> Value:
        started = len(self.activations)
        mapping = Mapping(self.clock)
        for f in self.comprehension(node, node.generators, self._inner(frame)):
            key = self.eval(node.key, f)
            hash_all(self, [key], self.site(node, f))
            mapping.items[self.key(key)] = (key, self.eval(node.value, f))
        mapping.exact = self._exact(node, started)
        return mapping

    def _eval_GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        started, born = len(self.activations), self.clock
        values = [self.eval(node.elt, f) for f in self.comprehension(node, node.generators, self._inner(frame))]
        exact = self._exact(node, started)
        result = Sequence("list", values, born, exact)
        return Iterable(lambda _: iter(result.items), len(values) if exact else None, "generator", once=True)
