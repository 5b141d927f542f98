"""Which bindings carry graph into the next pass: the fewest, as the program can write them inside of the loop."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable
from dataclasses import replace

from autodetach.machine.activations import Activation
from autodetach.machine.children import walk
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.values import Value
from autodetach.node_types import CALLABLES
from autodetach.view.holders import Holder, Replay
from autodetach.view.moments import Moment, begun_at, placed
from autodetach.view.program import Program


def cover(
    program: Program,
    again: Replay,
    d: Moment,
    activation: Activation,
    operands: list[Value],
    holders_of: Callable[[Value], list[Holder]] | None = None,
) -> dict[str, Holder]:
    """The fewest bindings that hold all of the operands, nearest first; none if one operand has no name."""
    holders_of = holders_of or again.of
    left = {id(o): o for o in operands}
    stepping = _stepping(again, d)
    chosen: dict[str, Holder] = {}
    while left:
        options: dict[str, tuple[set[int], Holder]] = {}
        for key, operand in left.items():
            for holder in holders_of(operand):
                holder = _rooted(d, holder, stepping)
                if not _placeable(program, d, holder, activation):
                    holder = _inside(program, d, holder, activation.node)
                if _placeable(program, d, holder, activation) and not _is_rebound(program, d, holder, activation.node):
                    held, _ = options.setdefault(holder.text, (set(), holder))
                    held.add(key)
        if not options:
            return {}
        text_, (held, holder) = min(
            options.items(), key=lambda item: (-len(item[1][0]), item[1][1].depth, -_inwardness(d, item[1][1]))
        )
        chosen[text_] = holder
        for key in held:
            del left[key]
    return chosen


def innermost(d: Moment, holders: Iterable[Holder]) -> Frame:
    """Of the frames in which holders are written, the one that was called last."""
    return max(holders, key=lambda h: _inwardness(d, h)).frame


def _placeable(program: Program, d: Moment, holder: Holder, activation: Activation) -> bool:
    """Whether a statement in the holder's frame, inside of the loop, may rebind it."""
    return placed(program, d, holder.frame, activation.node) is not None


def _is_rebound(program: Program, d: Moment, holder: Holder, loop: ast.AST | None) -> bool:
    """Whether each pass binds a variable before anything reads it, and nothing reads it behind the differentiation.

    Then what it is when a pass begins goes nowhere.
    """
    name = holder.name
    at = d.trail.index((loop, holder.frame)) if (loop, holder.frame) in d.trail else -1
    if not isinstance(loop, (ast.For, ast.AsyncFor)) or at < 0:
        return False
    now = d.trail[at + 1][0] if at + 1 < len(d.trail) else loop
    behind = loop.body[loop.body.index(now) :] if now in loop.body else loop.body
    if any(name in program.names_read(s) for s in behind):
        return False
    functions = CALLABLES
    inner = (f for f in walk(program.scope(loop)) if isinstance(f, functions) and f is not program.scope(loop))
    if any(name in program.names_read(f) for f in inner):
        return False
    return is_bound_first(program, loop, name)


def is_bound_first(program: Program, loop: ast.AST | None, name: str) -> bool:
    """Whether each pass binds a variable before it reads it, also in a loop of its own."""
    for statement in loop.body if isinstance(loop, (ast.For, ast.AsyncFor)) else ():
        is_loop = isinstance(statement, (ast.For, ast.AsyncFor)) and name not in program.names_read(statement.iter)
        if is_loop and is_bound_first(program, statement, name):
            return True
        if name in program.names_read(statement):
            return False
        if isinstance(statement, ast.AugAssign) and name in program.names_bound(statement):
            return False
        if isinstance(statement, (ast.Assign, ast.AnnAssign)) and name in program.names_bound(statement):
            return True
    return False


def _inwardness(d: Moment, holder: Holder) -> int:
    return max((i for i, (_, f) in enumerate(d.trail) if f is holder.frame), default=-1)


def _stepping(again: Replay, d: Moment) -> frozenset[Frame]:
    """The running functions that step parameters behind a differentiation, themselves or by what they call."""
    behind = (s for s in again.machine.steps if s.what != "grad" and s.clock > d.number)
    step = next((s for s in behind if s.loops[-1:] == d.loops[-1:]), None)
    return frozenset(f for _, f in step.trail if isinstance(f, Frame)) if step is not None else frozenset()


def _rooted(d: Moment, holder: Holder, stepping: frozenset[Frame]) -> Holder:
    """The same binding as it is written in the innermost running frame that has a name for its owner.

    Of the methods of one object, what only differentiates, as `self.manual_backward(loss)`, is no place for that if one
    that calls it steps behind it.
    """
    if holder.owner is None:
        return holder
    first: Holder | None = None
    for _, frame in reversed(d.trail):
        if not isinstance(frame, Frame) or frame is holder.frame:
            break
        for name, value in frame.names.items():
            if value is holder.owner:
                found = replace(holder, frame=frame, name=name, text=name + holder.rest, depth=1)
                if not stepping or (frame in stepping and (first is None or first.name == name)):
                    return found
                first = first or found
                break
    return first or holder


def _inside(program: Program, d: Moment, holder: Holder, loop: ast.AST | None) -> Holder:
    """A binding of an outer scope as the innermost function that runs inside of `loop` can write it.

    A method best writes what its own object holds as its own, even where a global name means the same object.
    """
    begun = begun_at(program, d, loop)
    inner = [f for _, f in reversed(d.trail[len(d.trail) if begun is None else begun :]) if isinstance(f, Frame)]
    root = holder.frame.names.get(holder.name)
    for frame in inner:
        if frame is not holder.frame and isinstance(root, Instance):
            for name, value in frame.names.items():
                if value is root:
                    return replace(holder, frame=frame, name=name, text=name + holder.text.removeprefix(holder.name))
    for frame in inner:
        if _is_seen_in(frame, holder):
            return replace(holder, frame=frame)
    return holder


def _is_seen_in(frame: Frame, holder: Holder) -> bool:
    """Whether a function means the binding of an outer scope by its name."""
    at: Frame | None = frame
    while at is not None and at is not holder.frame:
        if holder.name in at.names:
            return False
        at = at.outer
    return at is holder.frame and at is not frame
