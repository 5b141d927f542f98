"""Tests of the remainders of a counter that a loop comes to: each goes the way that those before it leave open."""

from __future__ import annotations

import ast

from autodetach.machine.activations import Pass
from autodetach.machine.alternation import Alternation
from autodetach.machine.children import nodes_in
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.oracle import TestKey
from autodetach.machine.passes import MAX_PASSES
from autodetach.machine.program_values import Frame, Function
from autodetach.machine.remainders import Remainder, may_ask, remainder_asked
from autodetach.machine.rhythms import value_of
from autodetach.machine.spelling import spelled
from autodetach.named_tuples import NamedTuple


class RemainderTest(NamedTuple):
    """A test that is met: the remainder that it asks for, or `another` one, and that of the pass before."""

    alternation: Alternation
    value: int
    before: int
    another: bool
    current: Pass | None

    def follows(self, m: Core) -> bool | None:
        """Which way it goes, where that follows from others. What begins in the last pass is awaited to its end."""
        has_it = self.alternation.must_be(self.value, self.before)
        if has_it and self.current is not None and self.current.index == MAX_PASSES - 1:
            m.await_passes(self.current.activation, MAX_PASSES + 1)
        return None if has_it is None else has_it != self.another

    def note(self, outcome: bool) -> None:
        """It has gone one way."""
        self.alternation.note(self.value, found=outcome != self.another)


def test_of_remainder(m: Core, test: TestKey, site: Site) -> RemainderTest | None:
    """A test that is about to be decided, if it asks for a remainder."""
    frame = m.trail[-1][1] if m.trail else None
    asked = remainder_asked(site.node, _scope_of(m, frame)) if frame is not None and may_ask(site.node) else None
    if frame is None or asked is None:
        return None
    current = _pass_of(m, asked)
    name = (asked.counter, _owner(asked, site), spelled(asked.divisor), _begun_anew(asked, current))
    alternation = m.oracle.alternations.setdefault(name, Alternation())
    alternation.enter(frame if current is None else (current.activation.number, current.index))
    alternation.is_more_than_one = alternation.is_more_than_one or bool(m.oracle.policy.flip(test))
    every = value_of(asked.divisor, frame)
    value, before = asked.value, asked.value - 1
    if type(every) is int and every > 0:
        value, before = value % every, before % every
    return RemainderTest(alternation, value, before, asked.another, current)


def _scope_of(m: Core, frame: Frame) -> ast.AST:
    """The function that is running, or the statement of a file."""
    if isinstance(frame.function, Function):
        return frame.function.node
    return next(statement for statement, around in m.trail if around is frame)


def _pass_of(m: Core, asked: Remainder) -> Pass | None:
    """The pass of the loop that counts, or else of the innermost one."""
    for current in reversed(m.loops):
        if current.activation.node is not None and _counts(current.activation.node, asked):
            return current
    return m.loops[-1] if m.loops else None


def _counts(loop: ast.AST, asked: Remainder) -> bool:
    if asked.loop is not None:
        return loop is asked.loop
    return isinstance(loop, (ast.For, ast.AsyncFor)) and asked.counter in _targets(loop)


def _targets(loop: ast.For | ast.AsyncFor) -> set[str]:
    return {n.id for n in nodes_in(loop.target) if isinstance(n, ast.Name)}


def _owner(asked: Remainder, site: Site) -> str:
    """A name belongs to a function, an attribute to all methods of a class."""
    return site.scope.rpartition(".")[0] if "." in asked.counter else site.scope


def _begun_anew(asked: Remainder, current: Pass | None) -> int | None:
    """The number of the loop that begins to count anew, as one with `for` does."""
    loop = current.activation.node if current is not None else None
    is_own = isinstance(loop, (ast.For, ast.AsyncFor)) and asked.counter in _targets(loop)
    return current.activation.number if is_own and current is not None else None
