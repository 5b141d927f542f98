"""Generators of the program: each runs as far as its consumer asks, and ends where nobody asks any more.

What has to be left when a generator is dropped is left by Python, which closes it then. Code that mypyc has compiled
is not told of that: this file, and others that make iterators which have to be, are not compiled.
"""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator

from autodetach.machine.activations import Activation, Pass
from autodetach.machine.generators import yields
from autodetach.machine.graph import Site
from autodetach.machine.loops import CONTINUE, MAX_EXACT_ITEMS, RETURN
from autodetach.machine.opened import Leave
from autodetach.machine.passes import MAX_PASSES, MAX_SKIPPED
from autodetach.machine.program_values import Frame, Function, Iterable
from autodetach.machine.state import OutOfFuel, Raised
from autodetach.machine.statements import Statements
from autodetach.machine.values import Value

_END = object()


class _Signal:
    """Control leaves a generator's block; never a value of the program."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


def generate(m: Statements, function: Function, frame: Frame) -> Iterator[Value]:
    mode = function.grad_mode
    if isinstance(function.node, ast.Lambda):
        return
    running = _block(m, function.node.body, frame)
    while True:
        before = m.grad_enabled
        if mode is not None:
            m.grad_enabled = bool(mode)
        try:
            value = next(running, _END)
        finally:
            if mode is not None:
                m.grad_enabled = before
        if value is _END or isinstance(value, _Signal):
            return
        yield value


def _block(m: Statements, body: list[ast.stmt], frame: Frame) -> Iterator[Value]:
    """As `block`, for bodies that yield; ends with a `_Signal` where control leaves the block."""
    for statement in body:
        if not yields(statement):
            signal = m.block([statement], frame)
            if signal is not None:
                yield _Signal(signal)
                return
            continue
        m.spend()
        m.executed.add(statement)
        for value in _running(m, statement, frame):
            yield value
            if isinstance(value, _Signal):
                return


def _running(m: Statements, statement: ast.stmt, frame: Frame) -> Iterator[Value]:
    """What a statement yields; it is among those that run whenever the consumer asks for more."""
    values = _statement(m, statement, frame)
    while True:
        m.trail.append((statement, frame))
        try:
            value = next(values, _END)
        finally:
            m.trail.pop()
        if value is _END:
            return
        yield value


def _statement(m: Statements, node: ast.stmt, frame: Frame) -> Iterator[Value]:
    if isinstance(node, ast.If):
        yield from _block(m, node.body if m.decided_by_test(node, frame) else node.orelse, frame)
    elif isinstance(node, (ast.For, ast.AsyncFor)):
        items = m.items_of(m.eval(node.iter, frame), Site(node.iter, frame.qualname))
        exact = items.length is not None and items.length <= MAX_EXACT_ITEMS
        frame.cut = frame.cut or not (exact or items.whole)
        activation = m.activate_over(items, node, frame, exact)
        yield from _loop(m, _passes_over(m, items, activation, node, frame), activation, node, frame)
    elif isinstance(node, ast.While):
        activation = m.activate(node, frame, False)
        yield from _loop(m, _passes_while(m, activation, node, frame), activation, node, frame)
    elif isinstance(node, (ast.With, ast.AsyncWith)):
        leaves = []
        for item in node.items:
            leaves.append(m.enter(m.eval(item.context_expr, frame), item, frame, m.site(item.context_expr, frame)))
        try:
            yield from _block(m, node.body, frame)
        except GeneratorExit:
            _abandon(m, leaves)
            raise
        except BaseException:
            _leave(leaves)
            raise
        _leave(leaves)
    elif isinstance(node, ast.Try):
        yield from _block(m, node.body, frame)
        yield from _block(m, node.finalbody, frame)
    else:
        yield from _simple(m, node, frame)


def _abandon(m: Statements, leaves: list[Leave]) -> None:
    """Leave the contexts of a generator that nobody asks any more, be it long after the run.

    Nobody is there to whom an error could be told: Python would write it to the terminal of the user.
    """
    if not m.is_over:  # not yet dissolved
        with contextlib.suppress(Raised, OutOfFuel, RecursionError):
            _leave(leaves)


def _loop(
    m: Statements,
    passes: Iterator[Pass],
    activation: Activation,
    node: ast.For | ast.AsyncFor | ast.While,
    frame: Frame,
) -> Iterator[Value]:
    m.suspended.append(activation)
    yield from _passes(m, passes, node.body, frame)
    m.suspended.remove(activation)
    m.finish(activation)


def _passes(m: Statements, passes: Iterator[Pass], body: list[ast.stmt], frame: Frame) -> Iterator[Value]:
    for current in passes:
        for value in _in_pass(m, current, _block(m, body, frame)):
            if isinstance(value, _Signal):
                if value.name is RETURN:
                    yield value
                if value.name is not CONTINUE:
                    return
                break
            yield value


def _passes_over(
    m: Statements, items: Iterable, activation: Activation, node: ast.For | ast.AsyncFor, frame: Frame
) -> Iterator[Pass]:
    exact = activation.exact
    steps = items.start(exact)
    frame.gone_over[node] = items
    item: Value = None
    while True:
        if frame.ending:
            for other in m.others_at_end(items, steps, item, activation.passes):
                current = _next_pass(m, activation, other)
                m.assign(node.target, other, frame)
                yield current
            return
        item = next(steps, _END)
        if item is _END:
            return
        frame.cut = frame.cut or not (exact or items.whole)
        if not exact and activation.passes >= (MAX_EXACT_ITEMS if items.whole else MAX_PASSES + MAX_SKIPPED):
            frame.cut = True
            return
        current = _next_pass(m, activation, item)
        m.assign(node.target, item, frame)
        yield current


def _passes_while(m: Statements, activation: Activation, node: ast.While, frame: Frame) -> Iterator[Pass]:
    for _ in range(MAX_PASSES + MAX_SKIPPED):
        if frame.ending or not m.truth(m.eval(node.test, frame), m.site(node.test, frame), relevant=False):
            return
        yield _next_pass(m, activation)
    frame.cut = True


def _next_pass(m: Statements, activation: Activation, item: Value = None) -> Pass:
    outer = m.loops
    m.enter_pass_with(item, activation, outer)
    current, m.loops = m.loops[-1], outer
    return current


def _in_pass(m: Statements, current: Pass, inner: Iterator[Value]) -> Iterator[Value]:
    """Run the body of a generator's loop, as far as its consumer asks."""
    while True:
        outer = m.loops
        m.loops = (*outer, current)
        try:
            value = next(inner)
        except StopIteration:
            return
        finally:
            m.loops = outer
        yield value


def _simple(m: Statements, node: ast.stmt, frame: Frame) -> Iterator[Value]:
    value = getattr(node, "value", None)
    if isinstance(value, ast.YieldFrom):
        items = frame.gone_over[value] = m.items_of(m.eval(value.value, frame), Site(value, frame.qualname))
        for count, item in enumerate(items.start(False)):
            if count >= MAX_EXACT_ITEMS:
                frame.cut = True
                break
            yield item
        frame.cut = frame.cut or (items.length is None and not items.whole)
    elif isinstance(value, ast.Yield):
        yield None if value.value is None else m.eval(value.value, frame)
        sent, frame.sent = frame.sent, None
        if isinstance(node, ast.Assign):
            for target in node.targets:
                m.assign(target, sent, frame)
    else:
        before = len(frame.returns)
        signal = m.block([node], frame)
        yield from frame.returns[before:]
        if signal is not None:
            yield _Signal(signal)


def one_by_one(m: Statements, node: ast.GeneratorExp, items: Iterable, frame: Frame) -> Iterator[Value]:
    activation = m.activate_over(items, node, frame, True)
    m.suspended.append(activation)
    for item in items.start(True):
        outer = m.loops
        try:
            m.enter_pass_with(item, activation, outer)
            m.assign(node.generators[0].target, item, frame)
            value = m.eval(node.elt, frame)
        finally:
            m.loops = outer
        yield value
    m.suspended.remove(activation)
    m.finish(activation)


def _leave(leaves: list[Leave]) -> None:
    for leave in reversed(leaves):
        leave(None)
