"""Which names hold a tensor when a pass of a loop begins: found by running the same path once more and looking."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from autodetach.machine.graph import Activation, Differentiation, Loops, Node, Pass, Place, trail_of
from autodetach.machine.interpreter import Machine
from autodetach.machine.run import FUEL_PER_RUN, Run, run_once
from autodetach.machine.values import Class, Frame, Function, Instance, Mapping, Opaque, Sequence, Tensor, Value
from autodetach.rules.program import Program

MAX_OBJECTS = 2000
MAX_STEPS = 5


@dataclass(frozen=True, eq=False, slots=True)
class Holder:
    """`text` is what a program writes for the outermost container (or the tensor itself) in `frame`.

    `name` is the first name of it; `depth` counts the steps from it, those by index thrice.
    """

    frame: Frame
    name: str
    text: str
    value: Value
    depth: int


@dataclass(eq=False, slots=True)
class Replay:
    """A second run along the same path, with what its names held at the begin of one pass."""

    machine: Machine
    holders: dict[int, list[Holder]]
    kept: list[Value]

    def of(self, tensor: Value) -> list[Holder]:
        return self.holders.get(id(tensor), [])


def replay(program: Program, run: Run, activation: Activation, index: int) -> Replay:
    """Run the path of `run` again and note who holds which tensor when pass `index` of `activation` begins."""
    holders: dict[int, list[Holder]] = {}
    kept: list[Value] = []

    def watch(machine: Machine, current: Pass) -> None:
        if current.activation.number == activation.number and current.index == index:
            _note(machine, current, holders, kept)

    again = run_once(program.tree, run.policy, FUEL_PER_RUN, watch)
    return Replay(again.machine, holders, kept)


@dataclass(frozen=True, slots=True)
class Moment:
    """A point in a run: the statements that were running, outermost first."""

    number: int
    loops: Loops
    trail: tuple[Place, ...]


def moment(of: Differentiation | Node) -> Moment:
    trail = of.trail if isinstance(of, Differentiation) else trail_of(of)
    return Moment(of.number, of.loops, trail)


def twin(machine: Machine, d: Differentiation) -> Differentiation | None:
    """The same differentiation in another run of the same path."""
    return next((other for other in machine.differentiations if other.number == d.number), None)


def _note(machine: Machine, current: Pass, holders: dict[int, list[Holder]], kept: list[Value]) -> None:
    frames: dict[int, Frame] = {}
    for _, frame in machine.trail:
        if isinstance(frame, Frame):
            frames[id(frame)] = frame
    frames[id(machine.globals)] = machine.globals
    function = current.activation.frame
    if isinstance(function, Function):  # an entry point that is called again and again: only its object outlives the call
        this = machine.entered
        if this is not None:
            frame = Frame(None, function.qualname, function)
            first = function.node.args.args[0].arg if function.node.args.args else "self"
            frame.names[first] = this
            frames[id(frame)] = frame
    for frame in frames.values():
        for holder in _walk(frame):
            kept.append(holder[0])
            holders.setdefault(id(holder[0]), []).append(holder[1])


def _walk(frame: Frame) -> Iterator[tuple[Value, Holder]]:
    """Tensors reachable from the names of a frame, nearest first."""
    seen: set[int] = set()
    queue: list[tuple[Value, str, str, int, tuple[str, Value] | None]] = []
    for name, value in list(frame.names.items()):
        queue.append((value, name, name, 0, None))
    while queue and len(seen) < MAX_OBJECTS:
        value, name, text, depth, container = queue.pop(0)
        if isinstance(value, (Tensor, Opaque)) and value.node is not None:
            shown, whole = container if container is not None else (text, value)
            yield value, Holder(frame, name, shown, whole, depth)
            continue
        if id(value) in seen or depth > MAX_STEPS * 3:
            continue
        if isinstance(value, (Sequence, Mapping)):
            seen.add(id(value))
            outer = container if container is not None else (text, value)
            items = value.items if isinstance(value, Sequence) else [v for _, v in value.items.values()]
            for item in items[:32]:
                if isinstance(item, (Tensor, Opaque, Sequence, Mapping)):
                    queue.append((item, name, text, depth + 1, outer))
                elif isinstance(item, Instance) and isinstance(value, Sequence) and container is None:
                    at = value.items.index(item)
                    queue.append((item, name, f"{text}[{at}]", depth + 3, None))
        elif isinstance(value, Instance):
            seen.add(id(value))
            for key, item in list(value.attrs.items()):
                if key == "#items" and isinstance(item, Sequence):
                    for i, child in enumerate(item.items[:16]):
                        queue.append((child, name, f"{text}[{i}]", depth + 3, None))
                elif key == "#items" and isinstance(item, Mapping):
                    for k, child in item.items.values():
                        if isinstance(k, str):
                            queue.append((child, name, f"{text}[{k!r}]", depth + 3, None))
                elif isinstance(key, str) and key.isidentifier() and not isinstance(item, (Class, Function)):
                    queue.append((item, name, f"{text}.{key}", depth + 1, None))


def placed(program: Program, d: Moment, frame: Frame, loop: ast.AST | None) -> ast.stmt | None:
    """The innermost statement of `frame` that was running when `d` ran, inside of `loop`."""
    found: ast.stmt | None = None
    for statement, at in d.trail:
        if at is frame:
            found = statement
    if found is None:
        return None
    if isinstance(loop, (ast.For, ast.AsyncFor, ast.While)) and loop not in program.enclosing(found):
        # The loop runs in a caller of this frame: any statement of the frame is inside of a pass.
        frames = [f for s, f in d.trail if s is loop]
        if frames and frames[0] is frame:
            return None
    return found


def behind_step(program: Program, machine: Machine, d: Moment, statement: ast.stmt, frame: Frame) -> ast.stmt:
    """The last statement of the block, from `statement` on, that steps parameters in the same pass; else `statement`."""
    block = program.block(statement)
    at = block.index(statement) if statement in block else 0
    last = statement
    for step in machine.steps:
        if step.clock < d.number or step.loops[: len(d.loops)] != d.loops[: len(step.loops)][: len(d.loops)]:
            continue
        for s, f in step.trail:
            if f is frame and s in block and block.index(s) > at:
                if block.index(s) > block.index(last) and step.what == "step":
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
