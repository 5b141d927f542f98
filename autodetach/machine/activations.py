"""Loops as they run: their activations, the passes of these, and how two moments stand to each other in them."""

from __future__ import annotations

import ast
from typing import TypeAlias


class Shown:
    """The `ways` that a loop went which trained so many `times` in passes of the loop around it; see `passes.Ways`."""

    __slots__ = ("times", "ways")

    def __init__(self) -> None:
        self.times = 0
        self.ways: set[tuple[ast.AST, bool]] = set()


class Activation:
    """One execution of a loop, or of the repeated calls of an entry point; its body runs in passes.

    `bounded`: a few passes over something in view. `short`: nothing says that it goes on for long (see `Iterable`).
    `length`: how many passes it has in all, if that is known; `usual`: how many without arguments on the command line.
    `inner`: it counts the steps of a method that a module out of view calls, as of one that decodes.
    `over_modules`: it goes through networks, or the layers of one; `over_parameters`: through old ones.
    `dropping`: containers from which something was taken out before it ended, of those that it has put something into.
    `begun`: how many tests had gone one way or the other when each of its passes began.
    `without_grad`: no gradient was recorded when it began itself.
    `shown`: what loops inside have shown so far that train; `before`: what an outer one knows of this one.
    `awaited`: so many passes it has at least, since what the last but one has begun anew is ended in a later one.
    `ended`: a test of the program has said that this pass is its last.
    """

    __slots__ = (
        "awaited",
        "before",
        "begun",
        "bounded",
        "dropping",
        "ended",
        "exact",
        "frame",
        "in_forward",
        "inner",
        "length",
        "node",
        "number",
        "over_modules",
        "over_parameters",
        "passes",
        "short",
        "shown",
        "skipped",
        "started",
        "usual",
        "without_grad",
    )

    def __init__(self, number: int, node: ast.AST | None, frame: object, started: int, exact: bool) -> None:
        self.number = number
        self.node = node
        self.frame = frame
        self.started = started
        self.exact = exact
        self.ended = False
        self.passes = 0
        self.skipped = 0
        self.in_forward = False
        self.inner = False
        self.bounded = False
        self.over_modules = False
        self.over_parameters = False
        self.length: int | None = None
        self.usual: int | None = None
        self.short = False
        self.dropping: set[int] = set()
        self.begun: list[int] = []
        self.without_grad = False
        self.shown: dict[ast.AST | None, Shown] = {}
        self.before: Shown | None = None
        self.awaited = 0


class Pass:
    """One pass of an activation; `index` counts from 0."""

    __slots__ = ("activation", "index", "started")

    def __init__(self, activation: Activation, index: int, started: int) -> None:
        self.activation = activation
        self.index = index
        self.started = started


Loops: TypeAlias = tuple[Pass, ...]
"""The passes in which a moment stands, outermost first."""


def pass_of(loops: Loops, activation: Activation) -> Pass | None:
    """The pass of a loop in which a moment stands; None where it stands outside of the loop."""
    for p in loops:
        if p.activation is activation:
            return p
    return None


def diverge(one: Loops, other: Loops) -> tuple[Pass, Pass] | None:
    """The outermost loop of which two moments stand in different passes, or None where no loop tells them apart."""
    if one is other:
        return None
    for a, b in zip(one, other, strict=False):
        if a is b:
            continue
        return (a, b) if a.activation is b.activation else None
    return None


def within(inner: Loops, outer: Loops) -> bool:
    """Whether the moment `inner` lies in the same pass of every loop that is open at `outer`."""
    return len(inner) >= len(outer) and all(a is b for a, b in zip(inner, outer, strict=False))
