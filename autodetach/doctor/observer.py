"""Stands beside PyTorch: looks before each differentiation, after each step, and keeps what was seen."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import Any

from autodetach.doctor import verdict
from autodetach.doctor.activations import forget
from autodetach.doctor.budget import Budget
from autodetach.doctor.census import Census
from autodetach.doctor.diagnosis import Diagnosis
from autodetach.doctor.enough import Enough
from autodetach.doctor.facts import Facts
from autodetach.doctor.frames import Site, Territory, site_of
from autodetach.doctor.growth import Growth
from autodetach.doctor.holders import Binding, Held, Search
from autodetach.doctor.journal import Call, Journal
from autodetach.doctor.lines import MAX_FRAMES, Lines
from autodetach.doctor.nodes import Node, bytes_saved, reachable
from autodetach.doctor.noting import Noting, has_compiled
from autodetach.doctor.passes import spots
from autodetach.doctor.scan import Scan, needed, scan
from autodetach.doctor.standins import StandIns
from autodetach.doctor.steppers import Steppers
from autodetach.doctor.threads import MAIN, thread_number
from autodetach.machine.evidence import Evidence

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

    `thread` is the thread whose names are looked at, by its `thread_number`; None for the main one, or, if another
    differentiates first, for that.
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
        self._stand_ins: StandIns | None = None
        self._noting: Any = None
        self._noted = 0
        self._steppers = Steppers()
        self.lock = threading.RLock()
        self._thread = MAIN if thread is None else thread
        self._may_change_thread = thread is None
        self._torch: Any = None
        self.reporters: list[Callable[[Observer], None]] = []

    @property
    def attached(self) -> bool:
        """Whether a PyTorch is observed."""
        return self._torch is not None

    def attach(self, torch: Any) -> None:
        """Begin to observe; what this PyTorch is too old for is said in `blind`."""
        if self._stand_ins is not None:
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
        self._noted = self.journal.calls
        self._stand_ins = StandIns(torch, self)
        self._noting = Noting(torch, self.lines, always=self.options.trace)
        if has_compiled():
            self._say_compiled()
        elif thread_number() == self._thread:
            self._noting.begin()

    def detach(self) -> None:
        """Leave PyTorch as it was."""
        if self._stand_ins is not None:
            self._noting.end()
            self._stand_ins.leave()
            self._stand_ins = None
            forget(sys._getframe(1))

    def look(self, frame: FrameType | None, event: str) -> None:
        """Look at what all names hold."""
        with self.careful(), self.budget:
            newest = self._torch.autograd._get_sequence_nr()
            held = list(self.search.held(frame))
            weigh = self._weigh if self.budget.left else None
            at = spots(self.territory.frames(frame))
            self.growth.look(event, held, self.steps, newest, weigh, every=self.options.weigh, at=at)
            self.journal.snapshot(names_of(held))
            if self.census.due():
                self.census.take({id(each.tensor) for each in held})

    def begin_anew(self) -> None:
        """In a child that was forked: what was seen before is its parent's to tell."""
        self.lock = threading.RLock()  # a thread that is not in the child may hold the other one
        self._thread = thread_number()
        self.journal.begin_anew()
        self.growth = Growth()
        self.budget = Budget(None) if self.options.trace else Budget()
        self.failed, self.steps, self._noted = False, 0, 0
        if self._torch is not None:
            self._census = Census(self._torch)

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
        return self._steppers.site_of(tensor)

    def compiles(self) -> None:
        """What is compiled would be compiled with the mode that notes lines."""
        self._noting.end()
        self._say_compiled()

    def _say_compiled(self) -> None:
        text = "torch.compile is used: which line builds what is not seen, and nothing inside a compiled function is"
        if text not in self.blind:
            self.blind.append(text)

    # Events.

    def before(
        self, outputs: Any, args: tuple[Any, ...], accumulates: bool, frame: FrameType
    ) -> tuple[Call, Scan | None]:
        user = self.territory.innermost(frame)
        retains = bool(args[1]) if len(args) > 1 else False
        creates = bool(args[2]) if len(args) > 2 else False
        call = self.journal.begin(site_of(user or frame), retains, creates, accumulates, thread_number())
        self._choose_thread()
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
                    call.bytes = bytes_saved(reachable(iter(roots)), self._steppers.addresses())
            if call.count <= ALL_SNAPSHOTS or call.count % SNAPSHOT_EVERY == 0:
                self._snapshot(frame)
            if self.facts.due(call.site.path, call.site.line):
                self.facts.look(self.territory.frames(frame), self._boundary)
        return call, seen

    def after(self, call: Call, frame: FrameType) -> None:
        self._boundary = self._torch.autograd._get_sequence_nr()
        self.journal.end(call, self._boundary)
        self._maybe_look("backward", frame)
        self._noting.enough(self.journal.calls - self._noted)
        if self.options.steps is not None and self.steps == 0 and self.journal.calls >= self.options.steps:
            raise Enough

    def failed_with(self, call: Call, seen: Scan | None, outputs: Any, error: RuntimeError, frame: FrameType) -> None:
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

    def after_step(self, optimizer: Any, frame: FrameType) -> None:
        """Of a step that somebody else takes, nothing is said."""
        user = self.territory.innermost(frame)
        if user is None:
            return
        site = site_of(user)
        self._steppers.note(optimizer, site)
        self.steps += 1
        if self.journal.waits_for_step:
            self.journal.step(tuple(map(site_of, islice(self.territory.frames(frame), MAX_FRAMES))))
        self._maybe_look("step", frame)
        self._noting.leave()
        if self.options.steps is not None and self.steps >= self.options.steps:
            raise Enough

    def before_forward(self, frame: FrameType) -> None:
        self._noting.leave()
        if self._torch.is_grad_enabled():
            self._choose_thread()
            self._maybe_look("forward", frame)

    def _choose_thread(self) -> None:
        """Where it is not the main thread that trains, look at the one which does: the first to differentiate."""
        if self._may_change_thread:
            if thread_number() != self._thread:
                self._thread = thread_number()
                self._noting.begin()
            self._may_change_thread = not self.journal.calls

    def _maybe_look(self, event: str, frame: FrameType) -> None:
        if thread_number() != self._thread:
            return
        if self.growth.ends_pass(event):
            user = self.territory.innermost(frame)
            if user is not None and self.growth.due(event, site_of(user)) and self.budget.left:
                self.look(frame, event)
        for report in self.reporters:
            report(self)

    def _snapshot(self, frame: FrameType) -> None:
        self.journal.snapshot(names_of(self.search.held(frame)))

    def _weigh(self, nodes: Iterator[Node]) -> int:
        return bytes_saved(nodes, self._steppers.addresses())

    def _inputs(self, inputs: Iterable[Any]) -> Iterator[Node]:
        for each in inputs:
            node = getattr(each, "node", None)
            yield node if node is not None else self._torch.autograd.graph.get_gradient_edge(each).node


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
