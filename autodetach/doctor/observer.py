"""Stands beside PyTorch: looks before each differentiation, after each step, and keeps what was seen."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

from autodetach.doctor import verdict
from autodetach.doctor.budget import Budget
from autodetach.doctor.census import Census
from autodetach.doctor.diagnosis import Diagnosis
from autodetach.doctor.enough import Enough
from autodetach.doctor.facts import Facts
from autodetach.doctor.frames import Site, Territory, site_of
from autodetach.doctor.growth import Growth
from autodetach.doctor.holders import Binding, Held, Search
from autodetach.doctor.journal import Call, Journal
from autodetach.doctor.lines import MAX_FRAMES, Lines, mode_for
from autodetach.doctor.nodes import Node, address_of, bytes_saved, hooks_are_used, reachable
from autodetach.doctor.passes import spots
from autodetach.doctor.patching import replace
from autodetach.doctor.scan import Scan, needed, scan
from autodetach.machine.evidence import Evidence

DEEP_CALLS = 6
"""Differentiations during which the lines that build nodes are noted, unless all are asked for."""
DEEP_OPERATIONS = 20_000
MAX_BYTES_LOOKS = 8
ALL_SNAPSHOTS = 32
SNAPSHOT_EVERY = 16
"""Names are looked up at so many calls of a line, then at one in so many: it costs more than a look at the graph."""


@dataclass(frozen=True, slots=True)
class Options:
    """How closely to look. `trace`: at everything, whatever it costs. `steps`: end the program after so many optimizer
    steps (differentiations, where no optimizer steps), None to let it end by itself. `weigh`: count bytes at each look,
    and not of leaks alone."""

    trace: bool = False
    steps: int | None = None
    weigh: bool = False


class Observer:
    """Observes the PyTorch of this process between `attach` and `detach`; `tell` gets each fault that raises.

    `thread` is the thread whose names are looked at, by its ident: the main one, unless another is given.
    """

    def __init__(
        self, options: Options, territory: Territory, tell: Callable[[Diagnosis], None], thread: int | None = None
    ) -> None:
        self.options = options
        self.territory = territory
        self.budget = Budget(None) if options.trace else Budget()
        self.journal = Journal()
        self.lines = Lines(territory)
        self.growth = Growth()
        self.skipped = 0
        self.failed = False
        self.steps = 0
        self.blind: list[str] = []
        self._tell = tell
        self._search: Search | None = None
        self._facts: Facts | None = None
        self._census: Census | None = None
        self._boundary = 0
        self._undo: list[Callable[[], None]] = []
        self.lock = threading.RLock()
        self._inside = threading.local()
        self._main = threading.main_thread().ident if thread is None else thread
        self._deep_until = DEEP_CALLS
        self._mode: Any = None
        self._torch: Any = None
        self._stepped: dict[int, tuple[weakref.ref[Any], Site]] = {}
        self.reporters: list[Callable[[Observer], None]] = []

    @property
    def attached(self) -> bool:
        """Whether a PyTorch is observed."""
        return self._torch is not None

    def attach(self, torch: Any) -> None:
        """Begin to observe; what this PyTorch is too old for is said in `blind`."""
        if self._undo:
            return
        autograd = getattr(torch, "autograd", None)
        if not hasattr(autograd, "_engine_run_backward") or not hasattr(autograd, "_get_sequence_nr"):
            version = getattr(torch, "__version__", "of no version")
            self.blind.append(f"PyTorch {version} cannot be observed: 2.4 or newer is needed")
            return
        self._torch = torch
        self._search = self._search or Search(torch, self.territory)
        self._facts = self._facts or Facts(torch, self.journal)
        self._census = self._census or Census(torch)
        self._deep_until = self.journal.calls + DEEP_CALLS
        self._replace(autograd, "_engine_run_backward", self._engine)
        self._replace(torch.nn.Module, "__call__", self._module_call)
        self._replace(torch, "compile", self._compile)
        raw = torch._C._autograd
        if not hasattr(raw.SavedTensor, "data"):
            self._replace(raw, "_push_saved_tensors_default_hooks", self._push_hooks)
        optimizer = sys.modules["torch.optim.optimizer"]
        handle = optimizer.register_optimizer_step_post_hook(self._after_step)
        self._undo.append(handle.remove)
        if _has_compiled():
            self._say_compiled()
        elif threading.get_ident() == self._main:
            self._mode = mode_for(torch, self.lines)
            self._mode.__enter__()

    def detach(self) -> None:
        """Leave PyTorch as it was."""
        if self._mode is not None:
            self._mode.active = False
            self._leave_mode()
        while self._undo:
            self._undo.pop()()

    def look(self, frame: FrameType | None, event: str) -> None:
        """Look at what all names hold."""
        with self.careful(), self.budget:
            newest = self._torch.autograd._get_sequence_nr()
            held = list(self.search.held(frame))
            weigh = self._weigh if self.budget.left else None
            self.growth.look(event, held, self.steps, newest, weigh, every=self.options.weigh)
            self.journal.snapshot(names_of(held))
            if self.census.due():
                self.census.take({id(each.tensor) for each in held})

    def results(self) -> list[Diagnosis]:
        """What was seen beside errors, at the end."""
        if self.attached:
            with self.careful():
                return verdict.results(self)
        return []

    @contextlib.contextmanager
    def careful(self) -> Iterator[None]:
        """A fault of the doctor's own is told once, in `blind`, and never reaches the program."""
        try:
            # Threads may differentiate at once; Python 3.11 cannot even parse in two of them.
            with self.lock:
                yield
        except Exception as error:
            text = f"a look has failed, and the run went on ({type(error).__name__}: {error})"
            if text not in self.blind:
                self.blind.append(text)

    @property
    def census(self) -> Census:
        """What no name leads to; only while PyTorch is observed."""
        assert self._census is not None
        return self._census

    @property
    def facts(self) -> Facts:
        """What the variables were; only while PyTorch is observed."""
        assert self._facts is not None
        return self._facts

    def evidence(self) -> Evidence:
        """What was seen, for the machine."""
        with self.careful():
            self.facts.kept(self.growth.leaks())
        return self.facts.evidence()

    @property
    def search(self) -> Search:
        """Where names lead; only while PyTorch is observed."""
        assert self._search is not None
        return self._search

    def stepped_by(self, tensor: Any) -> Site | None:
        """The last line that stepped an optimizer of this tensor."""
        found: Site | None = None
        address = address_of(tensor)
        for ref, site in self._stepped.values():
            optimizer = ref()
            groups = optimizer.param_groups if optimizer is not None else ()
            # What a graph has saved may be a view of the parameter.
            if any(p is tensor or (address and address_of(p) == address) for group in groups for p in group["params"]):
                found = site
        return found

    # What stands in for PyTorch's own functions.

    def _engine(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def run_backward(outputs: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if not self._undo or getattr(self._inside, "backward", False):
                return original(outputs, *args, **kwargs)  # a checkpoint computes its part again
            self._inside.backward = True
            try:
                frame = sys._getframe(1)
                call, seen = self._before(outputs, args, kwargs.get("accumulate_grad", True), frame)
                try:
                    result = original(outputs, *args, **kwargs)
                except RuntimeError as error:
                    self._failed(call, seen, outputs, error, frame)
                    raise
                self._after(call, frame)
                return result
            finally:
                self._inside.backward = False

        return run_backward

    def _module_call(self, original: Callable[..., Any]) -> Callable[..., Any]:
        inside = self._inside
        compiling = self._torch.compiler.is_compiling

        def __call__(module: Any, *args: Any, **kwargs: Any) -> Any:
            __tracebackhide__ = True
            if compiling() or not self._undo or getattr(inside, "module", False):
                return original(module, *args, **kwargs)
            inside.module = True
            try:
                self._before_forward(sys._getframe(1))
                return original(module, *args, **kwargs)
            finally:
                inside.module = False

        return __call__

    def _compile(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def compile(*args: Any, **kwargs: Any) -> Any:
            if self._mode is not None and self._mode.active:
                self._mode.active = False
                self._leave_mode()
            self._say_compiled()
            return original(*args, **kwargs)

        return compile

    def _push_hooks(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def push(*args: Any) -> Any:
            hooks_are_used()
            return original(*args)

        return push

    def _say_compiled(self) -> None:
        text = "torch.compile is used: which line builds what is not seen, and nothing inside a compiled function is"
        if text not in self.blind:
            self.blind.append(text)

    # Events.

    def _before(
        self, outputs: Any, args: tuple[Any, ...], accumulates: bool, frame: FrameType
    ) -> tuple[Call, Scan | None]:
        user = self.territory.innermost(frame)
        retains = bool(args[1]) if len(args) > 1 else False
        creates = bool(args[2]) if len(args) > 2 else False
        call = self.journal.begin(site_of(user or frame), retains, creates, accumulates, threading.get_ident())
        if not self.budget.left:
            self.skipped += 1
            self.growth.skipped()
            return call, None
        seen: Scan | None = None
        with self.careful(), self.budget:
            call.spots = spots(self.territory.frames(frame))
            roots = list(roots_of(outputs))
            seen = scan(roots, self.journal.walked)
            call.sequences = seen.sequences
            if seen.again:
                self.journal.use(seen.again)
            self.growth.consumed(seen.sequences)
            self.census.consumed(seen.sequences)
            if seen.freed and len(args) > 3 and args[3]:
                used = needed(roots, self._inputs(args[3]))
                seen.freed = [node for node in seen.freed if node in used]
            if retains and accumulates and not creates:
                earlier = self.journal.retained.get((call.site.path, call.site.line))
                if earlier is None or earlier.calls < MAX_BYTES_LOOKS:
                    call.bytes = bytes_saved(reachable(iter(roots)), self._weights())
            if call.count <= ALL_SNAPSHOTS or call.count % SNAPSHOT_EVERY == 0:
                self._snapshot(frame)
            if self.facts.due(call.site.path, call.site.line):
                self.facts.look(self.territory.frames(frame), self._boundary)
        return call, seen

    def _after(self, call: Call, frame: FrameType) -> None:
        self._boundary = self._torch.autograd._get_sequence_nr()
        self.journal.end(call, self._boundary)
        self._maybe_look("backward", call.site, frame)
        self._end_deep()
        if self.options.steps is not None and self.steps == 0 and self.journal.calls >= self.options.steps:
            raise Enough

    def _failed(self, call: Call, seen: Scan | None, outputs: Any, error: RuntimeError, frame: FrameType) -> None:
        diagnosis: Diagnosis | None = None
        with self.careful():
            diagnosis = verdict.of_error(self, call, seen, list(roots_of(outputs)), error, frame)
        if diagnosis is not None:
            self.failed = True
            self._tell(diagnosis)
            if hasattr(error, "add_note"):
                from autodetach.doctor.words import note

                text = note(diagnosis)
                if text not in getattr(error, "__notes__", ()):  # that of another observer
                    error.add_note(text)

    def _after_step(self, optimizer: Any, args: Any, kwargs: Any) -> None:
        frame = sys._getframe(1)
        user = self.territory.innermost(frame)
        if user is None:
            return
        site = site_of(user)
        self._stepped[id(optimizer)] = (weakref.ref(optimizer), site)
        self.steps += 1
        self.journal.step(tuple(map(site_of, islice(self.territory.frames(frame), MAX_FRAMES))))
        self._maybe_look("step", site, frame)
        self._leave_mode()
        if self.options.steps is not None and self.steps >= self.options.steps:
            raise Enough

    def _before_forward(self, frame: FrameType) -> None:
        self._leave_mode()
        user = self.territory.innermost(frame)
        if user is not None and self._torch.is_grad_enabled():
            self._maybe_look("forward", site_of(user), frame)

    def _maybe_look(self, event: str, site: Site, frame: FrameType) -> None:
        if threading.get_ident() != self._main:
            return
        if self.growth.due(event, site) and self.budget.left:
            self.look(frame, event)
        for report in self.reporters:
            report(self)

    def _snapshot(self, frame: FrameType) -> None:
        self.journal.snapshot(names_of(self.search.held(frame)))

    # The mode that notes lines.

    def _end_deep(self) -> None:
        mode = self._mode
        if mode is None or self.options.trace or not mode.active:
            return
        if self.journal.calls >= self._deep_until or mode.calls > DEEP_OPERATIONS:
            mode.active = False

    def _leave_mode(self) -> None:
        """Take the mode off the stack where it lies on top; else it stays there, inactive."""
        mode = self._mode
        if mode is None or mode.active or threading.get_ident() != self._main:
            return
        if self._torch.overrides._get_current_function_mode() is mode:
            mode.__exit__(None, None, None)
            self._mode = None

    def _weigh(self, nodes: Iterator[Node]) -> int:
        return bytes_saved(nodes, self._weights())

    def _weights(self) -> set[int]:
        """The addresses of storages that are there anyway: the leaves that optimizers step."""
        known: set[int] = set()
        for ref, _ in self._stepped.values():
            optimizer = ref()
            for group in optimizer.param_groups if optimizer is not None else ():
                known.update(p.untyped_storage().data_ptr() for p in group["params"])
        return known

    def _inputs(self, inputs: Iterable[Any]) -> Iterator[Node]:
        for each in inputs:
            node = getattr(each, "node", None)
            yield node if node is not None else self._torch.autograd.graph.get_gradient_edge(each).node

    def _replace(self, owner: Any, name: str, make: Callable[[Callable[..., Any]], Callable[..., Any]]) -> None:
        self._undo.append(replace(owner, name, make))


def _has_compiled() -> bool:
    """Whether something was compiled already: a mode would be traced, too, and break what is to be one graph."""
    backends = getattr(sys.modules.get("torch._dynamo.eval_frame"), "cached_backends", {})
    return any(callable(backend) for backend in backends.values())  # optimizers switch it off, with None


def names_of(held: Iterable[Held]) -> dict[int, list[Binding]]:
    """The names of tensors, by the sequence numbers of their nodes."""
    names: dict[int, list[Binding]] = {}
    for each in held:
        names.setdefault(each.tensor.grad_fn._sequence_nr(), []).append(each.binding)
    return names


def roots_of(outputs: Any) -> Iterator[Node]:
    """The nodes where a differentiation of these begins: tensors or gradient edges."""
    for output in outputs if isinstance(outputs, (tuple, list)) else (outputs,):
        node = getattr(output, "grad_fn", None) or getattr(output, "node", None)
        if node is not None:
            yield node
