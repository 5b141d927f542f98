"""Passes of one kind and another by turns: what `i % 2 == 0` is in one of them, it is not in the next one."""

from __future__ import annotations

import ast
from typing import NamedTuple

from autodetach.machine.alternation import Alternation
from autodetach.machine.core import Core
from autodetach.machine.graph import Pass
from autodetach.machine.passes import passes_of
from autodetach.machine.program_values import Frame
from autodetach.machine.remainders import Remainder, counter_in
from autodetach.machine.rhythms import value_of
from autodetach.machine.values import Sym, Value

DIVISORS = (2, 3)
"""So many kinds of passes there may be for two of each to be among those that are executed."""
TWICE = 2
"""As many times as many passes are needed."""


class Turn(NamedTuple):
    """A pass whose kind is known: `number` is what its counter has begun it with, None where nobody knows that."""

    current: Pass
    number: int | None
    every: int
    alternation: Alternation

    def has(self, value: int, m: Core) -> bool | None:
        """Whether the counter has a remainder: as it has it in every second or third pass, more of them are needed."""
        number = self._since_another() if self.number is None else self.number
        if number is None:
            return None
        activation = self.current.activation
        if not (activation.exact or activation.inner or m.in_module):
            m.await_passes(activation, TWICE * passes_of(activation, m.nodes))
        return (number - value) % self.every == 0

    def _since_another(self) -> int | None:
        """What the pass has begun with, as counted from the latest one whose test has gone one way."""
        known = self.alternation.turn
        if known is None or known[0] != self.current.activation.number:
            return None
        return known[2] + self.current.index - known[1]

    def note(self, value: int, *, found: bool) -> None:
        """A test has gone one way."""
        if found or self.every == 2:
            self.alternation.turn = self.current.activation.number, self.current.index, value + (not found)


def turn_of(
    m: Core, asked: Remainder, every: Value, frame: Frame, current: Pass | None, alternation: Alternation
) -> Turn | None:
    """The pass of the loop that counts in which a test of a remainder is met, where few kinds of them go by turns."""
    if type(every) is not int or every not in DIVISORS or current is None or asked.ahead is None:
        return None
    counter = value_of(counter_in(asked.computed), frame)
    if not counts(current.activation.node, asked) and m.key(counter) not in m.counts:
        return None
    number = _number(counter)
    return Turn(current, None if number is None else number - asked.ahead, every, alternation)


def counts(loop: ast.AST | None, asked: Remainder) -> bool:
    """Whether a loop counts what a test asks for."""
    if asked.loop is not None:
        return loop is asked.loop
    return isinstance(loop, (ast.For, ast.AsyncFor)) and asked.counter in targets(loop)


def targets(loop: ast.For | ast.AsyncFor) -> set[str]:
    """The names that a loop binds."""
    return {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)}


def _number(counter: Value) -> int | None:
    """What a counter has come to in the passes that are executed, of which each adds one."""
    if type(counter) is int:
        return counter
    return counter.lo if isinstance(counter, Sym) and counter.kind == "number" else None
