"""Which names hold a tensor when a pass of a loop begins: found by running the same path once more and looking."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace

from autodetach.kept import kept
from autodetach.machine.activations import Activation, Pass
from autodetach.machine.children import nodes_in
from autodetach.machine.graph import Differentiation
from autodetach.machine.interpreter import Machine
from autodetach.machine.marks import ITEMS, is_mark
from autodetach.machine.program_values import Class, Frame, Function, Instance
from autodetach.machine.run import Run
from autodetach.machine.running import run_again
from autodetach.machine.state import Kept as Put
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value
from autodetach.view.program import Program

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

    @property
    def put(self) -> list[Put]:
        """What has been put into containers since the first pass of the loop began."""
        return self.machine.watched or []

    def of(self, tensor: Value) -> list[Holder]:
        return self.holders.get(id(tensor), [])


def replay(program: Program, run: Run, activation: Activation, index: int) -> Replay:
    """Run the path of `run` again and note who holds which tensor when pass `index` of `activation` begins."""
    holders: dict[int, list[Holder]] = {}
    kept: list[Value] = []

    def watch(machine: Machine, current: Pass) -> None:
        if current.activation.number == activation.number and machine.watched is None:
            machine.watched = []
        if current.activation.number == activation.number and current.index == index:
            _note(machine, current, holders, kept)

    again = run_again(program.analysis, run.policy, watch)
    return Replay(again.machine, holders, kept)


def twin(machine: Machine, d: Differentiation) -> Differentiation | None:
    """The same differentiation in another run of the same path."""
    return next((other for other in machine.differentiations if other.number == d.number), None)


def twin_activation(machine: Machine, now: Pass) -> Activation:
    """The activation of a pass, in another run of the same path."""
    return next(a for a in machine.activations if a.number == now.activation.number)


def twin_pass(machine: Machine, same: Differentiation, now: Pass) -> Pass | None:
    """The same pass in another run of the same path, in which something was made that `same` has walked."""
    activation = twin_activation(machine, now)
    passes = (p for loops in (same.loops, *(n.loops for n in same.walked)) for p in loops)
    return next((p for p in passes if p.activation is activation and p.index == now.index), None)


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
    for frame in list(frames.values()):
        for scope in _closed_over(frame):
            frames[id(scope)] = scope
    for frame in frames.values():
        for holder in _walk(frame):
            kept.append(holder[0])
            holders.setdefault(id(holder[0]), []).append(holder[1])


def _closed_over(frame: Frame) -> Iterator[Frame]:
    """The frames of calls that have returned, and whose names the functions that a frame holds still read."""
    for value in list(frame.names.values()):
        scope = value.frame if isinstance(value, Function) else None
        while scope is not None and scope.outer is not None:
            yield scope
            scope = scope.outer


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
    """Tensors reachable from the names of a frame, nearest first; last by those that loops have left behind.

    `model.layers[0].state` says better what is meant than `layer.state` behind `for layer in model.layers`.
    """
    seen: set[int] = set()
    scope = frame.function.node if frame.function is not None else frame.module.tree if frame.module else None
    left = frozenset[str]() if scope is None else _bound_by_loops(scope)
    queue: list[tuple[Value, _Way]] = [(v, _Way(name, name, 0)) for name, v in frame.names.items() if name not in left]
    behind = [(v, _Way(name, name, 0)) for name, v in frame.names.items() if name in left]
    while (queue or behind) and len(seen) < MAX_OBJECTS:
        value, way = queue.pop(0) if queue else behind.pop(0)
        if isinstance(value, (Tensor, Opaque)) and value.node is not None:
            whole = value if way.whole is None else way.whole
            yield value, Holder(frame, way.name, way.text, whole, way.depth, way.owner, way.rest)
        elif id(value) not in seen and way.depth <= MAX_STEPS * 3:
            seen.add(id(value))
            queue.extend(_steps(value, way))
        if isinstance(value, Opaque):  # of an object out of view, what a run has shown
            queue.extend((value.attrs[n], way.to(f".{n}", 1)) for n in sorted(value.states) if n in value.attrs)


@kept
def _bound_by_loops(scope: ast.AST) -> frozenset[str]:
    """The names that only loops bind in a function or file."""
    stored = [n for n in nodes_in(scope) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    loops = (loop for loop in nodes_in(scope) if isinstance(loop, (ast.For, ast.AsyncFor)))
    targets = {n for loop in loops for n in nodes_in(loop.target)}
    return frozenset(n.id for n in stored) - {n.id for n in stored if n not in targets}


def _is_sequence_of_tensors(value: Value) -> bool:
    """A tuple or list that has nothing but tensors, as the state of an LSTM."""
    return (
        isinstance(value, Sequence)
        and value.kind in ("tuple", "list")
        and all(isinstance(item, (Tensor, Opaque)) for item in value.items)
    )


def _is_record(value: Instance) -> bool:
    """A named tuple or frozen dataclass, which is replaced as a whole."""
    return isinstance(value.cls, Class) and value.cls.frozen


def _steps(value: Value, way: _Way) -> Iterator[tuple[Value, _Way]]:
    """What a value holds, each with the way to it."""
    if isinstance(value, Sequence):
        inside = way if way.whole is not None else replace(way, whole=value)
        records = all(isinstance(item, Instance) and _is_record(item) for item in value.items)
        for i, item in enumerate(value.items[:32]):
            if isinstance(item, (Tensor, Opaque, Sequence, Mapping)) or records:
                yield item, replace(inside, depth=way.depth + 1)
            elif isinstance(item, Instance) and way.whole is None:
                yield item, way.to(f"[{i}]", 3)
    elif isinstance(value, Mapping):
        items = list(value.items.values())[:32]
        alike = all(isinstance(v, (Tensor, Opaque)) for _, v in items)
        states = all(not isinstance(k, str) and _is_sequence_of_tensors(v) for k, v in items)  # one for each layer
        for key, item in items:
            is_part = isinstance(item, (Tensor, Opaque)) and ((alike and len(items) > 1) or way.whole is not None)
            is_inside = way.whole is not None and isinstance(item, (Sequence, Mapping))
            if is_part or is_inside or (states and len(items) > 1):
                yield item, replace(way, whole=way.whole or value, depth=way.depth + 1)
            elif isinstance(key, str) and way.whole is None and '"' not in key and key.isprintable():
                yield item, way.to(f'["{key}"]', 1)
            elif way.whole is None and (type(key) is int or not is_constant(key)):
                # Most keys are computed: no one of them stands for all, unless what it has is changed in its own parts.
                if isinstance(item, (Tensor, Opaque)) or _is_sequence_of_tensors(item):
                    yield item, replace(way, whole=value, depth=way.depth + 1)
                elif type(key) is int:
                    yield item, way.to(f"[{key}]", 3)
    elif isinstance(value, Instance) and _is_record(value):
        for key, item in list(value.attrs.items()):
            if not is_mark(key):
                yield item, replace(way, whole=way.whole or value, depth=way.depth + 1)
    elif isinstance(value, Instance):
        for key, item in list(value.attrs.items()):
            if key == ITEMS and isinstance(item, (Sequence, Mapping)):
                children = enumerate(item.items) if isinstance(item, Sequence) else item.items.values()
                for k, child in list(children)[:16]:
                    yield child, way.to(f"[{k!r}]", 3)
            elif key.isidentifier() and not isinstance(item, (Class, Function)):
                yield item, replace(way.to(f".{key}", 1), owner=value, rest=f".{key}")
