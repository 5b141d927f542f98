"""Comprehensions and generator expressions: loops in a frame of their own."""

from __future__ import annotations

import ast
from collections.abc import Generator
from contextlib import closing
from itertools import chain

from autodetach.machine.children import children_of
from autodetach.machine.expressions import Expressions
from autodetach.machine.graph import Site
from autodetach.machine.held import graph_in
from autodetach.machine.implicit_calls import hash_all
from autodetach.machine.joining import MAX_WHOLE
from autodetach.machine.oracle import Policy
from autodetach.machine.others import others_in
from autodetach.machine.program_values import External, Frame, Iterable
from autodetach.machine.state import MAX_LISTED
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value

TAKERS = frozenset({"list", "tuple", "sum"})
"""What asks a generator for all that it makes, and keeps that."""


class Comprehensions(Expressions):
    """Expressions plus comprehensions."""

    def __init__(self, policy: Policy, fuel: int) -> None:
        super().__init__(policy, fuel)
        self._guesses = 0  # how many elements have passed a filter of which nobody knows how it decides

    def comprehension(
        self, node: ast.expr, generators: list[ast.comprehension], frame: Frame, depth: int = 0
    ) -> Generator[Frame, None, None]:
        """One frame an element; each `for` is a loop with passes."""
        if depth == len(generators):
            self.chosen.add(node)
            yield frame
            return
        generator = generators[depth]
        items = self.items_of(self.eval(generator.iter, frame), self.site(generator.iter, frame))
        limit = MAX_LISTED if items.listed else 16
        exact = items.length is not None and items.length <= limit
        activation = self.activate_over(items, node, frame, exact)
        activation.frame = frame.outer  # what is made here, the function around returns, or drops
        outer = self.loops
        try:
            limit = limit if exact else 3
            steps, usual = items.start(exact), None
            for item in steps:
                if activation.passes >= (MAX_WHOLE if items.whole else limit):
                    for other in self.others_at_end(items, chain((item,), steps), usual, activation.passes):
                        self.enter_pass_with(other, activation, outer)
                        yield from self._with_item(other, node, generators, frame, depth)
                        self.loops = outer
                    break
                self.spend(5)
                self.enter_pass_with(item, activation, outer)
                yield from self._with_item(item, node, generators, frame, depth)
                self.loops, usual = outer, item
            else:
                activation.exact = exact or items.whole
        finally:
            self.loops = outer
            self.finish(activation)

    def _with_item(
        self, item: Value, node: ast.expr, generators: list[ast.comprehension], frame: Frame, depth: int
    ) -> Generator[Frame, None, None]:
        self.assign(generators[depth].target, item, frame)
        if all(self._passes(test, frame) for test in generators[depth].ifs):
            yield from self.comprehension(node, generators, frame, depth + 1)

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

    def _is_long(self, node: ast.expr) -> bool:
        """Whether a loop of a comprehension that is in a pass goes on for longer than over a few things in view."""
        return not all(p.activation.exact or p.activation.short for p in self.loops if p.activation.node is node)

    def _gather(
        self, made: Sequence, node: ast.ListComp | ast.SetComp | ast.GeneratorExp, value: Value, frame: Frame
    ) -> None:
        """A pass has made an element, which is stored as by `append` where there are many of them."""
        made.items.append(value)
        if self._is_long(node):
            self.store(made, value, node.elt, self.site(node, frame), "made")

    def _eval_ListComp(self, node: ast.ListComp, frame: Frame) -> Value:
        started, born, guesses = len(self.activations), self.clock, self._guesses
        made = Sequence("list", [], born, False)
        with closing(self.comprehension(node, node.generators, self._inner(frame))) as frames:
            for f in frames:
                self._gather(made, node, self.eval(node.elt, f), f)
        made.exact = self._exact(node, started)
        if self._guesses > guesses:
            made.filled = self.fresh("bool")
        made.room = isinstance(node.elt, ast.Constant) and not made.exact
        return made

    def _eval_SetComp(self, node: ast.SetComp, frame: Frame) -> Value:
        made = Sequence("set", [], self.clock, False)
        with closing(self.comprehension(node, node.generators, self._inner(frame))) as frames:
            for f in frames:
                self._gather(made, node, self.eval(node.elt, f), f)
        hash_all(self, made.items, self.site(node, frame))
        return made

    def _eval_DictComp(self, node: ast.DictComp, frame: Frame) -> Value:
        started = len(self.activations)
        mapping = Mapping(self.clock)
        with closing(self.comprehension(node, node.generators, self._inner(frame))) as frames:
            for f in frames:
                key = self.eval(node.key, f)
                hash_all(self, [key], self.site(node, f))
                mapping.items[self.key(key)] = (key, self.eval(node.value, f))
        mapping.exact = self._exact(node, started)
        return mapping

    def _eval_GeneratorExp(self, node: ast.GeneratorExp, frame: Frame) -> Value:
        started, made, guesses = len(self.activations), Sequence("list", [], self.clock, False), self._guesses
        taker, builtin = self._taker(node, frame)
        total: Value = 0
        with closing(self.comprehension(node, node.generators, self._inner(frame))) as frames:
            for f in frames:
                value = self.eval(node.elt, f)
                if taker is not None and builtin == "sum" and self._is_added(total, made, value, node, f):
                    total = self.binary("Add", total, value, Site(taker, f.qualname, ((node.elt, value),)))
                if taker is not None and builtin != "sum":
                    self._gather(made, node, value, f)
                else:
                    made.items.append(value)
        made.exact = self._exact(node, started)
        if builtin == "sum" and self._guesses > guesses:
            made.filled = self.fresh("bool")
        length = len(made.items) if made.exact else None
        items = Iterable(lambda _: iter(made.items), length, "generator", once=True)
        items.others = others_in(self, made.items)
        items.taken = total if _has_node(total) else made if taker is not None else None
        return items

    def _is_added(self, total: Value, before: Sequence, value: Value, node: ast.GeneratorExp, frame: Frame) -> bool:
        """Whether a pass adds a value with history to those `before`, all of which are in the total.

        What goes over graphs that are there already keeps little beside them.
        """
        if not (_has_node(value) and (_has_node(total) or not before.items) and self._is_long(node)):
            return False
        begun = min((p.activation.started for p in self.loops if p.activation.node is node), default=0)
        given = (t.node for each in frame.names.values() for t in graph_in(each) if t.node is not None)
        return all(made.leaf or made.number > begun for made in given)

    def _taker(self, node: ast.GeneratorExp, frame: Frame) -> tuple[ast.Call | None, str]:
        """The call of `list`, `tuple` or `sum` that takes all of a generator, and which of these it is."""
        call = _taker_in(self.trail[-1][0], node) if self.trail else None
        if call is None or not isinstance(call.func, ast.Name) or call.func.id not in TAKERS:
            return None, ""
        callee = self.eval(call.func, frame)
        return (call, call.func.id) if type(callee) is External and callee.path.startswith("builtins.") else (None, "")


def _has_node(value: Value) -> bool:
    return isinstance(value, (Tensor, Opaque)) and value.node is not None


def _taker_in(statement: ast.stmt, node: ast.GeneratorExp) -> ast.Call | None:
    """The call in a statement that is given a generator and nothing else."""
    pending: list[ast.AST] = [statement]
    while pending:
        at = pending.pop()
        if isinstance(at, ast.Call) and len(at.args) == 1 and at.args[0] is node:
            return None if at.keywords else at
        pending += (child for child in children_of(at) if not isinstance(child, ast.stmt))
    return None
