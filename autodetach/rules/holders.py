"""Which names hold a tensor when a pass of a loop begins: found by running the same path once more and looking."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

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

    `name` is the first name of it; `depth` counts the steps from it, those by index thrice. `owner` is the innermost
    object on the way, and `rest` the text behind it.
    """

    frame: Frame
    name: str
    text: str
    value: Value
    depth: int
    owner: Instance | None = None
    rest: str = ""


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

    analysis = program.analysis
    again = run_once(program.tree, run.policy, FUEL_PER_RUN, watch, analysis.project, analysis.evidence)
    analysis.replays.append(again)
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
    for space in machine.namespaces.values():
        frames[id(space.frame)] = space.frame
    frames[id(machine.globals)] = machine.globals
    function = current.activation.frame
    if isinstance(
        function, Function
    ):  # an entry point that is called again and again: only its object outlives the call
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


@dataclass(frozen=True, eq=False, slots=True)
class _Way:
    """How a value is reached: text, steps, innermost object, and the container at which the text ends."""

    name: str
    text: str
    depth: int
    owner: Instance | None = None
    rest: str = ""
    whole: Value = None

    def to(self, more: str, steps: int) -> _Way:
        return replace(self, text=self.text + more, rest=self.rest + more, depth=self.depth + steps)


def _walk(frame: Frame) -> Iterator[tuple[Value, Holder]]:
    """Tensors reachable from the names of a frame, nearest first."""
    seen: set[int] = set()
    queue: list[tuple[Value, _Way]] = [(value, _Way(name, name, 0)) for name, value in list(frame.names.items())]
    while queue and len(seen) < MAX_OBJECTS:
        value, way = queue.pop(0)
        if isinstance(value, (Tensor, Opaque)) and value.node is not None:
            whole = value if way.whole is None else way.whole
            yield value, Holder(frame, way.name, way.text, whole, way.depth, way.owner, way.rest)
        elif id(value) not in seen and way.depth <= MAX_STEPS * 3:
            seen.add(id(value))
            queue.extend(_steps(value, way))
        if isinstance(value, Opaque):  # of an object out of view, what a run has shown
            queue.extend((value.attrs[n], way.to(f".{n}", 1)) for n in sorted(value.states) if n in value.attrs)


def _steps(value: Value, way: _Way) -> Iterator[tuple[Value, _Way]]:
    """What a value holds, each with the way to it."""
    if isinstance(value, Sequence):
        inside = way if way.whole is not None else replace(way, whole=value)
        for i, item in enumerate(value.items[:32]):
            if isinstance(item, (Tensor, Opaque, Sequence, Mapping)):
                yield item, replace(inside, depth=way.depth + 1)
            elif isinstance(item, Instance) and way.whole is None:
                yield item, way.to(f"[{i}]", 3)
    elif isinstance(value, Mapping):
        items = list(value.items.values())[:32]
        alike = all(isinstance(v, (Tensor, Opaque)) for _, v in items)
        for key, item in items:
            if isinstance(item, (Tensor, Opaque)) and ((alike and len(items) > 1) or way.whole is not None):
                yield item, replace(way, whole=way.whole or value, depth=way.depth + 1)
            elif isinstance(key, str) and way.whole is None and '"' not in key and key.isprintable():
                yield item, way.to(f'["{key}"]', 1)
    elif isinstance(value, Instance) and isinstance(value.cls, Class) and value.cls.frozen:
        for key, item in list(value.attrs.items()):
            if not key.startswith("#"):  # a record is replaced as a whole
                yield item, replace(way, whole=way.whole or value, depth=way.depth + 1)
    elif isinstance(value, Instance):
        for key, item in list(value.attrs.items()):
            if key == "#items" and isinstance(item, (Sequence, Mapping)):
                children = enumerate(item.items) if isinstance(item, Sequence) else item.items.values()
                for k, child in list(children)[:16]:
                    yield child, way.to(f"[{k!r}]", 3)
            elif key.isidentifier() and not isinstance(item, (Class, Function)):
                yield item, replace(way.to(f".{key}", 1), owner=value, rest=f".{key}")


def rooted(d: Moment, holder: Holder) -> Holder:
    """The same binding as it is written in the innermost running frame that has a name for its owner."""
    if holder.owner is None:
        return holder
    for _, frame in reversed(d.trail):
        if not isinstance(frame, Frame) or frame is holder.frame:
            return holder
        for name, value in frame.names.items():
            if value is holder.owner:
                return replace(holder, frame=frame, name=name, text=name + holder.rest, depth=1)
    return holder


def of_list(holder: Holder) -> Holder:
    """Of the record `memory.rows[2]`, the list in which it stands; any other binding as it is."""
    whole, bracket, _ = holder.text.rpartition("[")
    if not bracket or not holder.text.endswith("]"):
        return holder
    rest = holder.rest.rpartition("[")[0]
    found = holder.frame.names.get(whole) if holder.owner is None else holder.owner.attrs.get(rest.removeprefix("."))
    if isinstance(found, Sequence) and any(item is holder.value for item in found.items):
        return replace(holder, text=whole, rest=rest, value=found)
    return holder


def inside(d: Moment, holder: Holder, loop: ast.AST | None) -> Holder:
    """A binding of a module as the innermost function that runs inside of `loop` can write it."""
    if holder.frame.outer is not None:
        return holder
    begun = next((n for n, (s, _) in enumerate(d.trail) if s is loop), len(d.trail))
    for _, frame in reversed(d.trail[begun:]):
        if isinstance(frame, Frame) and frame.top is holder.frame and not _is_shadowed(frame, holder.name):
            return replace(holder, frame=frame)
    return holder


def _is_shadowed(frame: Frame, name: str) -> bool:
    at: Frame | None = frame
    while at is not None and at is not frame.top:
        if name in at.names:
            return True
        at = at.outer
    return False


def placed(program: Program, d: Moment, frame: Frame, loop: ast.AST | None) -> ast.stmt | None:
    """The innermost statement of `frame` that was running when `d` ran, inside of `loop`."""
    at = max((n for n, (_, f) in enumerate(d.trail) if f is frame), default=None)
    if at is None:
        return None
    found = d.trail[at][0]
    if isinstance(loop, (ast.For, ast.AsyncFor, ast.While)) and loop not in program.enclosing(found):
        # Where the loop runs in a caller of this frame, any statement of the frame is inside of a pass.
        begun = next((n for n, (s, _) in enumerate(d.trail) if s is loop), None)
        if begun is not None and begun >= at:
            return None
    return found


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
