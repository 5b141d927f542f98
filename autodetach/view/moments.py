"""Where a statement has to stand to run in the same pass as a differentiation, behind the step that uses it."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from autodetach.machine.activations import Activation, Loops, Pass
from autodetach.machine.children import walk
from autodetach.machine.graph import Differentiation, Node, Place, trail_of
from autodetach.machine.interpreter import Machine
from autodetach.machine.program_values import Frame
from autodetach.machine.spelling import spelled
from autodetach.node_types import COMPREHENSIONS, ENDING_A_PASS, LOOPS, YIELDS
from autodetach.view.program import Program


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in a run: the statements that were running, outermost first."""

    number: int
    loops: Loops
    trail: tuple[Place, ...]


def moment(of: Differentiation | Node) -> Moment:
    trail = of.trail if isinstance(of, Differentiation) else trail_of(of)
    return Moment(of.number, of.loops, trail)


def called_by(at: Moment, loop: Activation) -> Moment | None:
    """The same moment as the function sees it that has the loop, where it stands in one which that calls."""
    frames = [frame for _, frame in at.trail]
    if loop.frame not in frames[:-1] or frames[-1] is loop.frame:
        return None
    last = max(n for n, frame in enumerate(frames) if frame is loop.frame)
    return Moment(at.number, at.loops, at.trail[: last + 1])


def suspended(program: Program, d: Differentiation, now: Pass) -> Moment:
    """The moment of `d`; where it stands outside of the loop of `now`, that is a generator's, which waits meanwhile.

    It waits at its only `yield`; where it has several, nobody knows at which one.
    """
    at, loop, frame = moment(d), now.activation.node, now.activation.frame
    if now in d.loops or not isinstance(loop, LOOPS) or not isinstance(frame, Frame):
        return at
    scope = program.scope(loop)
    waits = [n for n in walk(loop) if isinstance(n, YIELDS) and program.scope(n) is scope]
    made = next((n for n in d.walked if now in n.loops), None)
    trail = trail_of(made) if made is not None else ()
    first = next((i for i, (_, f) in enumerate(trail) if f is frame), None)
    if made is None or first is None or len(waits) != 1 or isinstance(waits[0], ast.YieldFrom):
        return at
    around = [n for n in program.enclosing(waits[0]) if isinstance(n, ast.stmt) and program.scope(n) is scope]
    inside = tuple((s, frame) for s in reversed(around))
    return Moment(d.number, made.loops[: made.loops.index(now) + 1], (*trail[:first], *inside))


def parting(one: tuple[Place, ...], other: tuple[Place, ...]) -> int | None:
    """Where two trails go separate ways, if two statements of one frame are there."""
    pairs = enumerate(zip(one, other, strict=False))
    depth = next((i for i, (a, b) in pairs if a[0] is not b[0] or a[1] is not b[1]), None)
    return None if depth is None or one[depth][1] is not other[depth][1] else depth


def placed(program: Program, d: Moment, frame: Frame, loop: ast.AST | None) -> ast.stmt | None:
    """The innermost statement of `frame` that was running when `d` ran, inside of `loop`."""
    at = max((n for n, (_, f) in enumerate(d.trail) if f is frame), default=None)
    if at is None:
        return None
    found = d.trail[at][0]
    if isinstance(loop, (*LOOPS, *COMPREHENSIONS)) and loop not in program.enclosing(found):
        # Where the loop runs in a caller of this frame, any statement of the frame is inside of a pass.
        begun = begun_at(program, d, loop)
        if begun is not None and begun >= at:
            return None
    return found


def begun_at(program: Program, d: Moment, loop: ast.AST | None) -> int | None:
    """Which of the statements that were running is the loop, or has the comprehension in it."""
    if isinstance(loop, COMPREHENSIONS):
        loop = next((n for n in program.enclosing(loop) if isinstance(n, ast.stmt)), None)
    return next((n for n, (s, _) in enumerate(d.trail) if s is loop), None)


def behind_step(program: Program, machine: Machine, d: Moment, statement: ast.stmt, frame: Frame) -> ast.stmt:
    """The last statement of the block, from `statement` on, that steps parameters in the same pass, or itself."""
    block = program.block(statement)
    at = block.index(statement) if statement in block else 0
    last = statement
    for step in machine.steps:
        if (
            step.what == "grad"
            or step.clock < d.number
            or step.loops[: len(d.loops)] != d.loops[: len(step.loops)][: len(d.loops)]
        ):
            continue
        for s, f in step.trail:
            if f is frame and s in block and block.index(s) > at and block.index(s) > block.index(last):
                last = s
    for sibling in block[block.index(last) + 1 :] if last in block else []:
        if _resets(sibling):
            last = sibling
        else:
            break
    return last


def _resets(statement: ast.stmt) -> bool:
    """`optimizer.zero_grad()`, `scaler.update()`, `w.grad = None`: what belongs to a step."""
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        func = statement.value.func
        return isinstance(func, ast.Attribute) and func.attr in ("zero_grad", "update", "step", "zero_")
    return False


def last_mention(program: Program, anchor: ast.stmt, texts: list[str]) -> ast.stmt:
    """The last statement of the block that says anything about what is to be detached: `h = out`, behind the step."""
    block = program.block(anchor)
    last = anchor
    for statement in block[block.index(anchor) + 1 :] if anchor in block else []:
        if isinstance(statement, ENDING_A_PASS):
            break
        if any(_mentions(n, texts) for n in ast.walk(statement) if isinstance(n, (ast.Name, ast.Attribute))):
            last = statement
    return last


def _mentions(node: ast.Name | ast.Attribute, texts: list[str]) -> bool:
    """Whether it is one of them, or is given what one is a part of: `state = out` for `state["h"]`."""
    name = spelled(node)
    is_bound = isinstance(node.ctx, ast.Store)
    return name in texts or (is_bound and any(text.startswith((f"{name}.", f"{name}[")) for text in texts))
