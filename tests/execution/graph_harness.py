"""Runs small training programs on the installed PyTorch and says how they treat their autograd graphs.

    observations = observe_all([Path("x.before.py"), Path("x.after.py")])
    python graph_harness.py PROGRAM...        # the same as JSON, one object a line

A program carries no measuring code. It runs as `__main__` in a subprocess, in which `backward`, `autograd.grad`,
optimizer steps and outermost module calls are watched. At each of these moments the graph nodes that the program's own
variables (globals, locals, attributes, containers, closures) reach are noted down, and what the run says about them is
worked out when it is over, since only then is it known which of them a later backward still walked:

* a node is *idle* when no later backward walks it. A healthy loop holds the idle graph of its last pass or two, until
  the names are bound again. A leak is a moment at which idle nodes of `LEAKING_PASSES` different passes are held, or a
  backward that walks nodes of so many earlier backward calls again (a carried state under `retain_graph=True`).
  Losses that are summed and differentiated after the loop, and roll-outs, are not idle, so they are no leak.
* a `retain_graph=True` is *useless* when no node of its graph that saves tensors is walked
  again, at any of the times that its line runs.

Torch is imported in the subprocess only.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import random
import subprocess
import sys
import types
from argparse import Namespace
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

# Programs of the fixtures take eight steps or more; interleaved networks hold the graphs of three or four at a time.
LEAKING_PASSES = 6
# Without a backward or a step a pass can only be told by the calls of one module, which a healthy pass may repeat.
LEAKING_CALLS = 8

STEPS_WITH_WEIGHTS = 3


@dataclass(frozen=True, slots=True)
class Observation:
    """What one program did; numbers are `float.hex()`, so that equal strings are equal bits.

    `losses` are the values of the roots given to `backward`, in order; where a call failed, its roots are the last.
    `weights` are the parameters of an optimizer, one string a tensor, after each of its first three steps; several
    optimizers stand in the order in which they stepped. `useless_retains` are the lines that retained graphs which
    nothing walked again.
    """

    error: str | None
    leaks: bool
    losses: tuple[str, ...]
    weights: tuple[tuple[str, ...], ...]
    printed: str
    useless_retains: tuple[int, ...]


def observe(path: Path) -> Observation:
    """Run one program in a process of its own."""
    return observe_all([path])[path]


def observe_all(paths: Sequence[Path]) -> dict[Path, Observation]:
    """Run programs one after the other in one subprocess; importing torch takes longer than running them.

    Each gets a fresh `__main__`, fresh seeds and the default settings of torch. Raises RuntimeError when the subprocess
    itself fails, and subprocess.TimeoutExpired when the programs take much longer than they may.
    """
    if not paths:
        return {}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", __file__, *map(os.fspath, paths)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONHASHSEED": "0", "PYTHONIOENCODING": "utf-8"},
        stdin=subprocess.DEVNULL,
        timeout=60 + 5 * len(paths),
    )
    lines = done.stdout.splitlines()
    if done.returncode or len(lines) != len(paths):
        raise RuntimeError(f"observing failed with exit code {done.returncode}:\n{done.stderr[-2000:]}")
    return dict(zip(paths, map(_from_json, lines), strict=True))


def _from_json(line: str) -> Observation:
    raw = json.loads(line)
    return Observation(
        error=raw["error"],
        leaks=raw["leaks"],
        losses=tuple(raw["losses"]),
        weights=tuple(map(tuple, raw["weights"])),
        printed=raw["printed"],
        useless_retains=tuple(raw["useless_retains"]),
    )


class _Graph:
    """Autograd nodes by number. They are kept alive, so that a number never changes its meaning."""

    def __init__(self) -> None:
        self._numbers: dict[Any, int] = {}
        self._nodes: list[Any] = []
        self._edges: list[tuple[int, ...] | None] = []

    def number(self, node: Any) -> int:
        found = self._numbers.get(node)
        if found is None:
            found = self._numbers[node] = len(self._nodes)
            self._nodes.append(node)
            self._edges.append(None)
        return found

    def edges(self, number: int) -> tuple[int, ...]:
        known = self._edges[number]
        if known is None:
            nodes = (node for node, _ in self._nodes[number].next_functions if node is not None)
            known = self._edges[number] = tuple(self.number(node) for node in nodes)
        return known

    def reach(self, roots: Iterable[Any]) -> set[int]:
        """Everything that hangs on the given nodes, themselves included."""
        pending = [self.number(root) for root in roots]
        seen = set(pending)
        while pending:
            for target in self.edges(pending.pop()):
                if target not in seen:
                    seen.add(target)
                    pending.append(target)
        return seen

    def executed(self, roots: Iterable[Any], targets: Iterable[Any] | None) -> set[int]:
        """What a walk from the roots executes: everything, or only the ways that lead to the targets (`inputs=`)."""
        reached = self.reach(roots)
        if targets is None:
            return reached
        sources: dict[int, list[int]] = {}
        for number in reached:
            for target in self.edges(number):
                sources.setdefault(target, []).append(number)
        pending = [self.number(target) for target in targets]
        needed: set[int] = set()
        while pending:
            for source in sources.get(pending.pop(), ()):
                if source not in needed:
                    needed.add(source)
                    pending.append(source)
        return needed

    def without_leaves(self, numbers: Iterable[int]) -> frozenset[int]:
        """Leave out the nodes that belong to a parameter, and not to a pass."""
        return frozenset(n for n in numbers if type(self._nodes[n]).__name__ != "AccumulateGrad")

    def saving(self, numbers: Iterable[int]) -> frozenset[int]:
        """Those whose kind of operation saves tensors for its backward."""
        return frozenset(n for n in numbers if _saves(type(self._nodes[n])))


_SAVES: dict[type, bool] = {}


def _saves(kind: type) -> bool:
    if kind not in _SAVES:
        _SAVES[kind] = any(name.startswith("_raw_saved_") for name in dir(kind))
    return _SAVES[kind]


@dataclass(frozen=True, slots=True)
class _Walk:
    """A backward or an autograd.grad. `line` is that of the program, if the call asked to keep its graph."""

    moment: int
    nodes: frozenset[int]
    is_backward: bool
    retained_at: int | None


@dataclass(frozen=True, slots=True)
class _Sample:
    moment: int
    held: frozenset[int]


class _Watch:
    """Notes down what one program does; `leaks` and `useless_retains` are for afterwards."""

    def __init__(self, filename: str, namespace: dict[str, Any]) -> None:
        self.filename = filename
        self.namespace = namespace
        self.graph = _Graph()
        self.moment = 0
        self.walks: list[_Walk] = []
        self.samples: dict[str, list[_Sample]] = {}
        self.losses: list[str] = []
        self.weights: list[tuple[str, ...]] = []
        self.optimizers: list[Any] = []
        self.call_depth = 0

    def frames(self) -> Iterator[types.FrameType]:
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None:
            if frame.f_code.co_filename == self.filename:
                yield frame
            frame = frame.f_back

    def walk(self, roots: Any, inputs: Any, retain: bool, is_backward: bool) -> None:
        import torch

        tensors = [roots] if isinstance(roots, torch.Tensor) else list(roots)
        if is_backward:
            self.losses.extend(_exact(tensor) for tensor in tensors)
        targets = None
        if inputs is not None:
            wanted = [inputs] if isinstance(inputs, torch.Tensor) else list(inputs)
            targets = [torch.autograd.graph.get_gradient_edge(tensor).node for tensor in wanted]
        nodes = self.graph.executed([t.grad_fn for t in tensors if t.grad_fn is not None], targets)
        self.moment += 1
        line = next((frame.f_lineno for frame in self.frames()), 0) if retain else None
        self.walks.append(_Walk(self.moment, self.graph.without_leaves(nodes), is_backward, line))

    def sample(self, kind: str) -> None:
        namespaces = [self.namespace, *(frame.f_locals for frame in self.frames())]
        held = self.graph.reach(t.grad_fn for t in _tensors(namespaces, self.filename) if t.grad_fn is not None)
        self.moment += 1
        self.samples.setdefault(kind, []).append(_Sample(self.moment, self.graph.without_leaves(held)))

    def stepped(self, optimizer: Any) -> None:
        self.optimizers.append(optimizer)
        if sum(earlier is optimizer for earlier in self.optimizers) <= STEPS_WITH_WEIGHTS:
            groups = optimizer.param_groups
            self.weights.append(tuple(_exact(parameter) for group in groups for parameter in group["params"]))
        self.sample("step")

    def leaks(self) -> bool:
        last_walk: dict[int, int] = {}
        first_backward: dict[int, int] = {}
        for walk in self.walks:
            for node in walk.nodes:
                last_walk[node] = walk.moment
                if walk.is_backward:
                    first_backward.setdefault(node, walk.moment)
        if any(
            walk.is_backward and len({first_backward[node] for node in walk.nodes}) >= LEAKING_PASSES
            for walk in self.walks
        ):
            return True
        for kind, samples in self.samples.items():
            by_calls = kind.startswith("call")
            born: dict[int, int] = {}
            for index, sample in enumerate(samples):
                passes = set()
                for node in sample.held:
                    birth = born.setdefault(node, index)
                    if node not in last_walk or (last_walk[node] < sample.moment and not by_calls):
                        passes.add(birth)
                if len(passes) >= (LEAKING_CALLS if by_calls else LEAKING_PASSES):
                    return True
        return False

    def useless_retains(self) -> tuple[int, ...]:
        useful: dict[int, bool] = {}
        for index, walk in enumerate(self.walks):
            if walk.retained_at is not None:
                saving = self.graph.saving(walk.nodes)
                again = any(not saving.isdisjoint(later.nodes) for later in self.walks[index + 1 :])
                useful[walk.retained_at] = useful.get(walk.retained_at, False) or again
        return tuple(sorted(line for line, was_useful in useful.items() if not was_useful))


def _exact(tensor: Any) -> str:
    return " ".join(float(value).hex() for value in tensor.detach().reshape(-1).tolist())


_PLAIN = (str, bytes, int, float, complex, type(None), types.ModuleType, types.BuiltinFunctionType)


def _tensors(namespaces: Iterable[Any], filename: str) -> Iterator[Any]:
    """The tensors that a program can reach through what it wrote itself: containers, objects, closures, gradients."""
    import torch

    pending: list[Any] = [dict(namespace) for namespace in namespaces]
    keep = list(pending)  # an id means something only as long as its object lives
    seen: set[int] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, _PLAIN) or id(value) in seen:
            continue
        seen.add(id(value))
        keep.append(value)
        if isinstance(value, torch.Tensor):
            yield value
            if value.is_leaf and value.grad is not None:
                pending.append(value.grad)
        elif isinstance(value, dict):
            pending.extend(value.values())
        elif isinstance(value, list | tuple | set | frozenset | deque):
            pending.extend(value)
        elif isinstance(value, types.FunctionType):
            if value.__code__.co_filename == filename:
                pending.extend(cell.cell_contents for cell in value.__closure__ or () if _is_filled(cell))
                pending.extend((vars(value), value.__defaults__))
        elif isinstance(value, types.MethodType):
            pending.extend((value.__self__, value.__func__))
        elif isinstance(value, types.GeneratorType):
            if value.gi_frame is not None and value.gi_code.co_filename == filename:
                pending.append(dict(value.gi_frame.f_locals))
        elif isinstance(value, partial):
            pending.extend((value.func, value.args, value.keywords))
        elif isinstance(value, type):
            if value.__module__ == "__main__":
                pending.append(dict(vars(value)))
        elif isinstance(value, torch.nn.Module | torch.optim.Optimizer | types.SimpleNamespace | Namespace):
            pending.append(vars(value))
        elif type(value).__module__ == "__main__" or type(value).__module__.startswith("torch.distributions"):
            pending.append(getattr(value, "__dict__", None))
            slots = (name for kind in type(value).__mro__ for name in getattr(kind, "__slots__", ()))
            pending.extend(getattr(value, name, None) for name in slots)


def _is_filled(cell: types.CellType) -> bool:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:
        return False
    return True


class _Observer:
    """Puts the watched functions into torch once; `watch` is that of the program which runs."""

    def __init__(self) -> None:
        self.watch: _Watch | None = None

    def install(self) -> None:
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook

        backward: Callable[..., None] = torch.autograd.backward
        grad: Callable[..., Any] = torch.autograd.grad
        call: Callable[..., Any] = torch.nn.Module.__call__

        # Tensor.backward calls this by its name, with positions.
        def watched_backward(
            tensors: Any,
            grad_tensors: Any = None,
            retain_graph: bool | None = None,
            create_graph: bool = False,
            grad_variables: Any = None,
            inputs: Any = None,
        ) -> None:
            watch = self.watch
            if watch is not None:
                watch.walk(tensors, inputs, bool(retain_graph) and not create_graph, is_backward=True)
            backward(tensors, grad_tensors, retain_graph, create_graph, grad_variables, inputs)
            if watch is not None:
                watch.sample("backward")

        def watched_grad(outputs: Any, inputs: Any, *rest: Any, **options: Any) -> Any:
            if self.watch is not None:
                self.watch.walk(outputs, inputs, retain=False, is_backward=False)
            return grad(outputs, inputs, *rest, **options)

        def watched_call(module: Any, *args: Any, **kwargs: Any) -> Any:
            watch = self.watch
            if watch is None:
                return call(module, *args, **kwargs)
            if not watch.call_depth:
                watch.sample(f"call of {id(module)}")
            watch.call_depth += 1
            try:
                return call(module, *args, **kwargs)
            finally:
                watch.call_depth -= 1

        def stepped(optimizer: Any, args: Any, kwargs: Any) -> None:
            if self.watch is not None:
                self.watch.stepped(optimizer)

        for owner, name, watched in (
            (torch.autograd, "backward", watched_backward),
            (torch.autograd, "grad", watched_grad),
            (torch.nn.Module, "__call__", watched_call),
        ):
            setattr(owner, name, watched)
        register_optimizer_step_post_hook(stepped)

    def run(self, path: Path) -> Observation:
        _reset()
        filename = os.fspath(path)
        program = types.ModuleType("__main__")
        program.__file__ = filename
        watch = self.watch = _Watch(filename, program.__dict__)
        saved = sys.modules["__main__"], sys.argv
        sys.modules["__main__"], sys.argv = program, [filename]
        error = None
        printed = io.StringIO()
        try:
            with contextlib.redirect_stdout(printed):
                exec(compile(path.read_bytes(), filename, "exec", dont_inherit=True), program.__dict__)
        except SystemExit:
            pass
        except Exception as exception:
            error = f"{type(exception).__name__}: {str(exception).partition(chr(10))[0]}"
        finally:
            sys.modules["__main__"], sys.argv = saved
            self.watch = None
        return Observation(
            error=error,
            leaks=watch.leaks(),
            losses=tuple(watch.losses),
            weights=tuple(watch.weights),
            printed=printed.getvalue(),
            useless_retains=watch.useless_retains(),
        )


def _reset() -> None:
    import torch

    torch.set_default_dtype(torch.float32)
    torch.set_grad_enabled(True)
    torch.autograd.set_detect_anomaly(False)
    torch.manual_seed(0)
    random.seed(0)
    numpy = sys.modules.get("numpy")
    if numpy is not None:
        numpy.random.seed(0)


def _main(paths: Sequence[str]) -> None:
    import torch

    torch.set_num_threads(1)  # the same bits everywhere, and faster for models of this size
    observer = _Observer()
    observer.install()
    for path in paths:
        print(json.dumps(asdict(observer.run(Path(path)))), flush=True)


if __name__ == "__main__":
    _main(sys.argv[1:])
