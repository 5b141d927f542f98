"""Runs one program on the installed PyTorch and says what it did, in this process.

The text of the program is not changed, but its loops say when a pass begins and ends. At these moments the graph nodes
that the live values reach are noted down. What they mean is worked out when the run is over, since only then is it
known which of them a later differentiation still walked.
"""

from __future__ import annotations

import ast
import contextlib
import io
import random
import sys
import traceback
import types
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook

FILENAME = "<generated>"
ENGINE = "_engine_run_backward"
TELLING = 4
"""Passes that a loop must make before its growth can be told from a window of two or three."""
KINDS = {
    "backward through the graph a second time": "second",
    "modified by an inplace operation": "version",
    "does not require grad and does not have a grad_fn": "no-history",
    "leaf Variable that requires grad is being used in an in-place": "leaf-in-place",
    "Can't detach views in-place": "detach-view",
    "NoneType": "none",
}


@dataclass(frozen=True, slots=True)
class Fault:
    """An error: its kind, its line, and in which pass of the outermost loop (None outside of all loops)."""

    kind: str
    line: int
    number: int | None
    text: str


@dataclass(frozen=True, slots=True)
class Verdict:
    """What one program did. `losses` are the roots of each backward call, `weights` the parameters after each step.

    `growing` are the lines of loops that hold more idle graph with every pass, whenever they run, `swelling` of those
    that do so at least once, `unrolled` of those whose passes are differentiated together behind them, `short` of those
    with too few passes to tell; `useless` are the lines that retained graphs which nothing walked again; `again` says
    whether graph of another pass was walked again after a step.
    """

    error: Fault | None
    growing: frozenset[int]
    swelling: frozenset[int]
    unrolled: frozenset[int]
    short: frozenset[int]
    useless: frozenset[int]
    again: bool
    losses: tuple[bytes, ...]
    weights: tuple[bytes, ...]
    finite: bool
    printed: str

    @property
    def sound(self) -> bool:
        return self.error is None and not self.growing and not self.useless and not self.again


@dataclass(slots=True)
class _Walk:
    moment: int
    nodes: frozenset[int]
    line: int
    retained: bool
    depth: tuple[tuple[int, int], ...]


@dataclass(slots=True)
class _Loop:
    line: int
    frame: types.FrameType
    activation: int
    passes: int = 0
    samples: list[tuple[int, frozenset[int]]] = field(default_factory=list)


class _Watch:
    """Notes down what one program does."""

    def __init__(self) -> None:
        self.numbers: dict[Any, int] = {}
        self.nodes: list[Any] = []
        self.edges: list[tuple[int, ...] | None] = []
        self.born: list[tuple[tuple[int, int], ...]] = []
        self.moment = 0
        self.walks: list[_Walk] = []
        self.open: list[_Loop] = []
        self.loops: list[_Loop] = []
        self.steps: list[tuple[int, frozenset[int]]] = []
        self.losses: list[bytes] = []
        self.weights: list[bytes] = []
        self.finite = True
        self.namespace: dict[str, Any] = {}

    # ---- graph

    def number(self, node: Any) -> int:
        found = self.numbers.get(node)
        if found is None:
            found = self.numbers[node] = len(self.nodes)
            self.nodes.append(node)
            self.edges.append(None)
            self.born.append(self.place())
        return found

    def place(self) -> tuple[tuple[int, int], ...]:
        return tuple((loop.activation, loop.passes) for loop in self.open)

    def parents(self, number: int) -> tuple[int, ...]:
        known = self.edges[number]
        if known is None:
            found = (node for node, _ in self.nodes[number].next_functions if node is not None)
            known = self.edges[number] = tuple(self.number(node) for node in found)
        return known

    def reach(self, roots: Iterable[Any]) -> set[int]:
        pending = [self.number(root) for root in roots]
        seen = set(pending)
        while pending:
            for parent in self.parents(pending.pop()):
                if parent not in seen:
                    seen.add(parent)
                    pending.append(parent)
        return seen

    def is_leaf(self, number: int) -> bool:
        return type(self.nodes[number]).__name__ == "AccumulateGrad"

    # ---- moments

    def walk(self, roots: Any, inputs: Any, retained: bool, backward: bool) -> None:
        tensors = [roots] if isinstance(roots, torch.Tensor) else list(roots)
        if backward:
            self.finite = self.finite and all(bool(torch.isfinite(t).all()) for t in tensors)
            self.losses.append(b"".join(bits(t) for t in tensors))
        reached = self.reach(t.grad_fn for t in tensors if t.grad_fn is not None)
        if inputs is not None:
            wanted = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
            edges = [torch.autograd.graph.get_gradient_edge(t).node for t in wanted if t.requires_grad]
            reached = self.leading_to({self.number(e) for e in edges}, reached)
        self.moment += 1
        nodes = frozenset(n for n in reached if not self.is_leaf(n))
        self.walks.append(_Walk(self.moment, nodes, line_now(), retained, self.place()))

    def leading_to(self, targets: set[int], reached: set[int]) -> set[int]:
        needed: set[int] = set()
        children: dict[int, list[int]] = {}
        for n in reached:
            for parent in self.parents(n):
                children.setdefault(parent, []).append(n)
        pending = list(targets)
        while pending:
            for child in children.get(pending.pop(), ()):
                if child not in needed:
                    needed.add(child)
                    pending.append(child)
        return needed

    def stepped(self, optimizer: Any) -> None:
        parameters = [p for group in optimizer.param_groups for p in group["params"]]
        self.weights.append(b"".join(bits(p) for p in parameters))
        self.finite = self.finite and all(bool(torch.isfinite(p).all()) for p in parameters)
        self.moment += 1
        changed = [p for p in parameters if p.grad is not None and p.requires_grad and p.is_leaf]
        edges = [torch.autograd.graph.get_gradient_edge(p).node for p in changed]
        self.steps.append((self.moment, frozenset(self.number(e) for e in edges)))

    def enter(self, line: int) -> None:
        frame = sys._getframe(1)
        self.forget(frame)
        loop = _Loop(line, frame, len(self.loops))
        self.open.append(loop)
        self.loops.append(loop)

    def passed(self, line: int) -> None:
        frame = sys._getframe(1)
        while self.open and not (self.open[-1].line == line and self.open[-1].frame is frame):
            self.open.pop()
        if self.open[-1].passes:
            self.sample()
        self.open[-1].passes += 1

    def leave(self, line: int) -> None:
        frame = sys._getframe(1)
        while self.open and not (self.open[-1].line == line and self.open[-1].frame is frame):
            self.open.pop()
        self.sample()
        self.open.pop()

    def forget(self, frame: types.FrameType) -> None:
        """Loops of calls that have returned are not open any more."""
        running = set()
        at: types.FrameType | None = frame
        while at is not None:
            running.add(id(at))
            at = at.f_back
        while self.open and id(self.open[-1].frame) not in running:
            self.open.pop()

    def sample(self) -> None:
        self.moment += 1
        namespaces = [self.namespace]
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == FILENAME and frame.f_locals is not self.namespace:
                namespaces.append(dict(frame.f_locals))
            frame = frame.f_back
        held = self.reach(t.grad_fn for t in tensors_of(namespaces) if t.grad_fn is not None)
        self.open[-1].samples.append((self.moment, frozenset(n for n in held if not self.is_leaf(n))))

    # ---- afterwards

    def grows(self) -> dict[int, list[bool]]:
        """Whether a loop holds idle nodes of more passes at its end than in its middle, and there than at its begin.

        Each time that it runs: what one run holds may be differentiated in the end.
        """
        last: dict[int, int] = {}
        for walk in self.walks:
            for node in walk.nodes:
                last[node] = walk.moment
        grows: dict[int, list[bool]] = {}
        for loop in self.loops:
            if loop.passes < TELLING or len(loop.samples) < TELLING:
                continue
            births: dict[int, int] = {}
            counts = []
            for index, (moment, held) in enumerate(loop.samples):
                idle = [n for n in held if last.get(n, 0) < moment]
                for node in held:
                    births.setdefault(node, index)
                counts.append((len({births[n] for n in idle}), len(held)))
            first, middle, end = counts[0], counts[len(counts) // 2], counts[-1]
            rises = all(a < b < c for a, b, c in zip(first, middle, end, strict=True)) and end[0] >= 3
            grows.setdefault(loop.line, []).append(rises)
        return grows

    def unrolled(self) -> frozenset[int]:
        """Loops of which a later differentiation walks nodes of several passes."""
        found = set()
        for walk in self.walks:
            passes: dict[int, set[int]] = {}
            for node in walk.nodes:
                for activation, number in self.born[node]:
                    passes.setdefault(activation, set()).add(number)
            still = {activation for activation, _ in walk.depth}
            found |= {self.loops[a].line for a, numbers in passes.items() if len(numbers) > 1 and a not in still}
        return frozenset(found)

    def useless(self) -> frozenset[int]:
        useful: dict[int, bool] = {}
        for index, walk in enumerate(self.walks):
            if walk.retained:
                saving = {n for n in walk.nodes if saves(type(self.nodes[n]))}
                again = any(not saving.isdisjoint(later.nodes) for later in self.walks[index + 1 :])
                useful[walk.line] = useful.get(walk.line, False) or again
        return frozenset(line for line, was_useful in useful.items() if not was_useful)

    def again(self) -> bool:
        """Whether nodes that were walked in one pass are walked in a later one, after a step."""
        first: dict[int, _Walk] = {}
        for walk in self.walks:
            for node in walk.nodes:
                earlier = first.setdefault(node, walk)
                if earlier is walk or not any(earlier.moment < m < walk.moment for m, _ in self.steps):
                    continue
                pairs = list(zip(earlier.depth, walk.depth, strict=False))
                if any(a[0] == b[0] and a[1] != b[1] for a, b in pairs):
                    return True
        return False


def bits(tensor: torch.Tensor) -> bytes:
    return tensor.detach().numpy().tobytes()


_SAVES: dict[type, bool] = {}


def saves(kind: type) -> bool:
    if kind not in _SAVES:
        _SAVES[kind] = any(name.startswith("_raw_saved_") for name in dir(kind))
    return _SAVES[kind]


def line_now() -> int:
    """The line of the program that is running."""
    frame: types.FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code.co_filename == FILENAME:
            return frame.f_lineno
        frame = frame.f_back
    return 0


def tensors_of(namespaces: list[dict[str, Any]]) -> Iterator[torch.Tensor]:
    """The tensors that a program can reach through what it wrote itself."""
    pending: list[Any] = [v for names in namespaces for v in list(names.values())]
    keep = []
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in seen or isinstance(value, (str, int, float, type(None), types.ModuleType)):
            continue
        seen.add(id(value))
        keep.append(value)
        if isinstance(value, torch.Tensor):
            yield value
            if value.is_leaf and value.grad is not None:
                pending.append(value.grad)
        elif isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, (list, tuple, set, deque)):
            pending.extend(value)
        elif isinstance(value, types.FunctionType) and value.__code__.co_filename == FILENAME:
            pending.extend(c.cell_contents for c in value.__closure__ or () if is_filled(c))
        elif isinstance(value, types.MethodType):
            pending.append(value.__self__)
        elif isinstance(value, types.GeneratorType) and value.gi_frame is not None:
            pending.extend(value.gi_frame.f_locals.values())
        elif isinstance(value, torch.nn.Module) or type(value).__module__ == "__main__":
            pending.extend(getattr(value, "__dict__", {}).values())


def is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


# ---- the program, with loops that speak


class _Loops(ast.NodeTransformer):
    """Says when a loop is entered, when a pass begins, and when the loop is left.

    The loops of a generator belong to the passes of its consumer.
    """

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        if not any(isinstance(inner, ast.Yield) for inner in ast.walk(node)):
            self.generic_visit(node)
        return node

    def visit_For(self, node: ast.For) -> list[ast.stmt]:
        return self.spoken(node)

    def visit_While(self, node: ast.While) -> list[ast.stmt]:
        return self.spoken(node)

    def spoken(self, node: ast.For | ast.While) -> list[ast.stmt]:
        self.generic_visit(node)
        node.body.insert(0, self.say("__passed__", node))
        return [self.say("__enter__", node), node, self.say("__leave__", node)]

    def say(self, name: str, node: ast.For | ast.While) -> ast.stmt:
        call = ast.Expr(ast.Call(ast.Name(name, ast.Load()), [ast.Constant(node.lineno)], []))
        return ast.fix_missing_locations(ast.copy_location(call, node))


_backward: Callable[..., None] = torch.autograd.backward
_grad: Callable[..., Any] = torch.autograd.grad
_current: list[_Watch] = []


def _stepped(optimizer: Any, args: Any, kwargs: Any) -> None:
    for watch in _current:
        watch.stepped(optimizer)


register_optimizer_step_post_hook(_stepped)


@contextlib.contextmanager
def watching(watch: _Watch, retain: bool) -> Iterator[None]:
    def watched_backward(
        tensors: Any,
        grad_tensors: Any = None,
        retain_graph: bool | None = None,
        create_graph: bool = False,
        grad_variables: Any = None,
        inputs: Any = None,
    ) -> None:
        watch.walk(tensors, inputs, bool(retain_graph) and not create_graph, True)
        _backward(tensors, grad_tensors, retain or retain_graph, create_graph, grad_variables, inputs)

    def watched_grad(outputs: Any, inputs: Any, *rest: Any, **options: Any) -> Any:
        watch.walk(outputs, inputs, False, False)
        if retain:
            options["retain_graph"] = True
        return _grad(outputs, inputs, *rest, **options)

    vars(torch.autograd).update(backward=watched_backward, grad=watched_grad)
    _current.append(watch)
    try:
        yield
    finally:
        vars(torch.autograd).update(backward=_backward, grad=_grad)
        _current.pop()


def judge(source: str, *, retain: bool = False) -> Verdict:
    """Run a program; with `retain`, as if every differentiation of it kept its graph."""
    tree = _Loops().visit(ast.parse(source))
    code = compile(tree, FILENAME, "exec")
    watch = _Watch()
    names = {"__passed__": watch.passed, "__enter__": watch.enter, "__leave__": watch.leave}
    watch.namespace = {"__name__": "__main__", **names}
    printed = io.StringIO()
    error = None
    torch.manual_seed(0)
    random.seed(0)
    with watching(watch, retain), warnings.catch_warnings(), contextlib.redirect_stdout(printed):
        warnings.simplefilter("ignore")
        try:
            exec(code, watch.namespace)
        except Exception as caught:
            error = fault(caught, watch)
        finally:
            torch.set_grad_enabled(True)
    grows = watch.grows()
    return Verdict(
        error,
        frozenset(line for line, runs in grows.items() if all(runs)),
        frozenset(line for line, runs in grows.items() if any(runs)),
        watch.unrolled(),
        frozenset(loop.line for loop in watch.loops if loop.passes < TELLING),
        watch.useless(),
        watch.again(),
        tuple(watch.losses),
        tuple(watch.weights),
        watch.finite,
        printed.getvalue(),
    )


def fault(error: Exception, watch: _Watch) -> Fault:
    text = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
    kind = next((kind for words, kind in KINDS.items() if words in str(error)), "other")
    line = 0
    for frame, lineno in traceback.walk_tb(error.__traceback__):
        if frame.f_code.co_name == ENGINE:
            break
        if frame.f_code.co_filename == FILENAME:
            line = lineno
    running = {id(frame) for frame, _ in traceback.walk_tb(error.__traceback__)}
    inside = [loop for loop in watch.open if id(loop.frame) in running]
    return Fault(kind, line, inside[0].passes - 1 if inside else None, text)
