"""Entry points whose execution nothing else can notice, run again the other way without running all else again.

Most tests of a program stand in helpers that build no graph. On the path where such a test goes the other way the same
happens everywhere else, if the helper is an entry point of its own and leaves no trace either way: no event, nothing
changed that the program can reach, no test and no fact about an unknown value that others ask for too.
"""

from __future__ import annotations

import copy
import operator
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from autodetach.machine.core import OutOfFuel
from autodetach.machine.heap import Heap, Unclear
from autodetach.machine.interpreter import Machine
from autodetach.machine.oracle import Oracle, Policy, TestIndex, TestKey
from autodetach.machine.values import Function, Sym, Tensor

EVENTS = (
    "nodes", "differentiations", "second_walks", "stale", "crossings", "stored", "steps", "escapes", "type_faults",
    "facts", "random_nodes", "leaf_tensors", "classes", "hidden", "contradictions",
)  # fmt: skip
"""What a run leaves behind; who leaves nothing here is silent."""
LISTS = (*EVENTS, "functions", "activations", "_pins")
NOT_REACHED = frozenset({
    *LISTS, "executed", "met", "active", "clock", "fuel", "_serial", "tests", "oracle", "_syms", "_exec", "_eval",
    "builtins", "project", "evidence", "on_pass", "leaves", "grad_enabled", "entered", "detached_from", "detached_at",
})  # fmt: skip
"""Of a machine: what no entry point finds as another one has left it, or what is compared by itself."""
MAX_HEAPS = 6


class Spoilt(Exception):
    """Running an entry point again has changed what the first run shows: that is to be done again."""


class Asked(dict[Any, Any]):
    """A dict that notes the keys that were looked for."""

    def __init__(self, items: dict[Any, Any], asked: set[Hashable]) -> None:
        super().__init__(items)
        self.asked = asked

    def get(self, key: Hashable, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.asked.add(key)
        return super().__contains__(key)


@dataclass(frozen=True, eq=False, slots=True)
class Moment:
    """What is compared before and after an entry point was run."""

    fuel: int
    clock: int
    sizes: tuple[int, ...]
    activations: int
    known: dict[Hashable, bool]
    equal_to: dict[Hashable, Hashable]
    syms: dict[Hashable, Sym]
    visits: dict[TestKey, int]
    keys: dict[Any, Any]
    counts: dict[tuple[str, str], int]
    called: list[bool]
    containers: list[object]

    def learned(self, since: Moment) -> set[Hashable]:
        """The facts that have come since then."""
        found: set[Hashable] = set()
        for now, then in ((self.known, since.known), (self.equal_to, since.equal_to), (self.syms, since.syms)):
            found |= {key for key, value in now.items() if key not in then or then[key] is not value}
        return found

    def counted(self, since: Moment) -> set[tuple[str, str]]:
        """The texts of tests, with their functions, of which one more was met."""
        return {text for text, count in self.counts.items() if since.counts.get(text) != count}

    def decided(self, since: Moment) -> set[TestKey]:
        """The tests that were decided since then."""
        return {key for key, count in self.visits.items() if since.visits.get(key) != count}


@dataclass(frozen=True, eq=False, slots=True)
class Segment:
    """One entry point as it was run; `function` is None where others may notice."""

    function: Function | None
    heap: Heap
    start: Moment
    end: Moment
    asked: set[Hashable]


class Apart:
    """Watches the entry points of one run, and runs single ones again."""

    def __init__(self, machine: Machine, enter: Callable[[Machine, Function], None]) -> None:
        self._machine = machine
        self._given = machine.fuel
        self._enter = enter
        self._segments: list[Segment] = []
        self._heap: Heap | None = None
        self._heaps = 0
        self._off = machine.evidence is not None
        self._asked: set[Hashable] = set()
        self._leaves_asked = False
        self._start: Moment | None = None

    def begin(self) -> None:
        """An entry point is about to be run."""
        if self._off:
            return
        try:
            if self._heap is None:
                self._heap = self._look()
        except Unclear:
            self._off = True
            return
        if self._start is None:
            self._watch()
        self._asked = set()
        self._note(self._machine.oracle.known, self._machine.oracle.equal_to, self._machine._syms)
        self._leaves_asked = False
        self._start = self._moment(self._heap)

    def end(self, function: Function | None) -> None:
        """It has been run; None for several together, or what cannot be run again by itself."""
        if self._off or self._heap is None or self._start is None:
            return
        heap, now = self._heap, self._moment(self._heap)
        same = heap.is_same()
        silent = same and self._is_silent(self._start, now)
        self._segments.append(Segment(function if silent else None, heap, self._start, now, self._asked))
        if not same:
            self._heap = None
            self._heaps += 1
            self._off = self._heaps > MAX_HEAPS

    def other(self, policy: Policy, fuel: int) -> Machine | None:
        """What the machine of the path `policy` shows, which differs from that of the run in one test; None if unclear.

        `fuel` is what that run is given. Raises Spoilt.
        """
        if self._off or self._heap is None or len(policy.flips) != 1:
            return None
        ((key, _),) = policy.flips
        place = next((n for n, s in enumerate(self._segments) if key in s.end.visits), None)
        if place is None or not self._stands_alone(place) or key in self._segments[place].start.visits:
            return None
        return self._again(place, policy, fuel)

    def _stands_alone(self, place: int) -> bool:
        """Whether nothing before has, and nothing later can have, to do with an entry point."""
        segment, machine = self._segments[place], self._machine
        last = self._segments[-1].end
        start, end = segment.start, segment.end
        decided = end.decided(start)
        return (
            segment.function is not None
            and segment.heap is self._heap
            and bool(start.sizes[0]) == bool(machine.nodes)
            and start.visits.keys().isdisjoint(decided)
            and last.decided(end).isdisjoint(decided)
            and last.counted(end).isdisjoint(end.counted(start))
            and self._asked_after(place).isdisjoint(end.learned(start))
        )

    def _asked_after(self, place: int) -> set[Hashable]:
        return set().union(*(s.asked for s in self._segments[place + 1 :]))

    def _again(self, place: int, policy: Policy, fuel: int) -> Machine | None:
        """Run one entry point from where it began, on what the run has left behind."""
        segment, machine = self._segments[place], self._machine
        function, heap, start, last = segment.function, segment.heap, segment.start, self._segments[-1].end
        assert function is not None
        oracle, tests, syms = machine.oracle, machine.tests, machine._syms
        kept = (machine.fuel, machine.clock, machine._serial)
        before = self._moment(heap)
        machine.oracle, machine.tests = Oracle(policy), TestIndex()
        machine.tests._keys, machine.tests._counts = dict(start.keys), dict(start.counts)
        self._asked, self._leaves_asked = set(), False
        self._note(start.known, start.equal_to, start.syms)
        machine.oracle.visits = dict(start.visits)
        for one, was in zip(heap.functions, start.called, strict=True):
            one.called = was
        machine.fuel = fuel
        first = self._moment(heap)
        try:
            self._enter(machine, function)
        except (OutOfFuel, RecursionError):
            raise Spoilt from None
        after = self._moment(heap)
        silent = self._is_silent(first, after)
        decisions = machine.oracle.decisions
        for name, size in zip(LISTS, before.sizes, strict=True):
            del getattr(machine, name)[size:]
        machine.oracle, machine.tests, machine._syms = oracle, tests, syms
        machine.fuel, machine.clock, machine._serial = kept
        for one, was in zip(heap.functions, before.called, strict=True):
            one.called = was
        if self._leaves_asked or not _are_same(before.containers, self._containers()) or not heap.is_same():
            raise Spoilt
        old = segment.end.decided(start)
        clean = (
            silent
            and after.clock - first.clock == segment.end.clock - start.clock
            and after.activations - first.activations == segment.end.activations - start.activations
            and after.called == segment.end.called
            and (last.visits.keys() - old).isdisjoint(decisions)
            and last.counted(segment.end).isdisjoint(after.counted(first))
            and self._asked_after(place).isdisjoint(after.learned(first))
        )
        used = (first.fuel - after.fuel) - (start.fuel - segment.end.fuel)
        left = fuel - (self._given - machine.fuel) - used
        if not clean or left < 0:
            return None
        seen = copy.copy(machine)
        seen.fuel = left
        seen.oracle = Oracle(policy)
        for key, decision in oracle.decisions.items():
            if key in start.visits:
                seen.oracle.decisions[key] = decision
        seen.oracle.decisions.update(decisions)
        for key, decision in oracle.decisions.items():
            if key not in old:
                seen.oracle.decisions.setdefault(key, decision)
        visits = {**last.visits, **{key: after.visits[key] for key in decisions}}
        seen.oracle.visits = {key: visits[key] for key in seen.oracle.decisions}
        return seen

    def _look(self) -> Heap:
        return Heap(self._machine, NOT_REACHED)

    def _note(self, known: dict[Hashable, bool], equal_to: dict[Hashable, Hashable], syms: dict[Hashable, Sym]) -> None:
        """From now on, note which facts are asked for; those that there are now are copied."""
        machine = self._machine
        machine.oracle.known = Asked(known, self._asked)
        machine.oracle.equal_to = Asked(equal_to, self._asked)
        machine._syms = Asked(syms, self._asked)

    def _watch(self) -> None:
        """Note whether it is asked for all leaves that have gradient, which are no part of the heap."""
        leaves = self._machine.leaves

        def noted() -> list[Tensor]:
            self._leaves_asked = True
            return leaves()

        self._machine.leaves = noted  # type: ignore[method-assign]

    def _moment(self, heap: Heap) -> Moment:
        machine, oracle, tests = self._machine, self._machine.oracle, self._machine.tests
        return Moment(
            machine.fuel,
            machine.clock,
            tuple([len(getattr(machine, name)) for name in LISTS]),
            len(machine.activations),
            dict(oracle.known),
            dict(oracle.equal_to),
            dict(machine._syms),
            dict(oracle.visits),
            dict(tests._keys),
            dict(tests._counts),
            heap.called(),
            self._containers(),
        )

    def _containers(self) -> list[object]:
        """What the events of storing are about: that changes where a list is replaced by a longer one."""
        return [event.container for event in self._machine.stored]

    def _is_silent(self, before: Moment, after: Moment) -> bool:
        return (
            before.sizes[: len(EVENTS)] == after.sizes[: len(EVENTS)]
            and _are_same(before.containers, after.containers)
            and not self._leaves_asked
            and not any(self._machine.active.values())
        )


def _are_same(some: list[object], others: list[object]) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))
