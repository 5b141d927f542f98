"""Entry points whose execution nothing else can notice, run again the other way without running all else again.

A file of helpers or tests has many entry points. On the path where a test in one of them goes the other way the same
happens in all others, if it leaves nothing there either way that they could find: nothing changed that the program can
reach, no test and no fact about an unknown value that others ask for too. Its events take the place of those that it
left the first time; they get the numbers that they would get, or it is run with all else as ever.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable, Mapping
from typing import TYPE_CHECKING, Any

from autodetach.machine.attribute_names import twin
from autodetach.machine.interpreter import Machine
from autodetach.machine.oracle import Oracle, Policy, TestIndex, TestKey
from autodetach.machine.state import STRIDE, OutOfFuel
from autodetach.machine.values import Sym
from autodetach.named_tuples import NamedTuple

if TYPE_CHECKING:
    from autodetach.machine.heap import Heap

ENTERED = ("classes", "hidden", "contradictions")
"""What others look for in a machine: who adds to these is noticed."""
LISTS = (
    "nodes", "differentiations", "second_walks", "stale", "crossings", "stored", "filled", "drawn", "tails",
    "steps", "escapes", "type_faults", "facts", "restraints", "cleared", "scaled", "random_nodes", "stateful",
    "leaf_tensors", "functions", "activations", "asked", "old_tests", "attributes_set", "held", "of_gradient", "_pins",
    *ENTERED,
)  # fmt: skip
"""What a run leaves behind, in order."""
STATE = ("oracle", "tests", "_syms", "fuel", "clock", "_serial", "_loops_begun")
NOT_REACHED = frozenset({
    *LISTS, *STATE, "executed", "ways", "met", "active", "_exec", "_eval", "builtins", "project", "evidence", "on_pass",
    "leaves_asked", "grad_enabled", "entered", "detached_from", "detached_at", "costs", "inner_cost", "left_out",
    "called_on", "called_off", "tasks", "only_numbers",
})  # fmt: skip
"""Of a machine: what no entry point finds as another one has left it, or what is compared by itself."""
MAX_HEAPS = 6
PER_ENTRY = 2000
"""So many values are compared for each entry: where more can be reached, several entries are looked at together."""


class Spoilt(Exception):
    """Running an entry point again has changed what the first run shows: that is to be done again."""


class Asked(dict[Any, Any]):
    """A dict that notes the keys that were looked for."""

    def __init__(self, items: Mapping[Any, Any], asked: set[Hashable]) -> None:
        super().__init__(items)
        self.asked = asked

    def get(self, key: Hashable, default: Any = None) -> Any:
        self.asked.add(key)
        return super().get(key, default)

    def __contains__(self, key: object) -> bool:
        self.asked.add(key)
        return super().__contains__(key)


def asked(items: Mapping[Any, Any], keys: set[Hashable]) -> Asked:
    """The dict, noting into these keys from now on; a copy of one that notes nothing."""
    if not isinstance(items, Asked):
        return Asked(items, keys)
    items.asked = keys
    return items


class Moment(NamedTuple):
    """What is compared before and after an entry point was run."""

    fuel: int
    clock: int
    serial: int
    loops: int
    sizes: dict[str, int]
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


Entry = Callable[[], list[str]]
"""Runs an entry point, or several that belong together; their names."""


class Segment(NamedTuple):
    """One entry as it was run; `entry` is None where others may notice."""

    entry: Entry | None
    names: list[str]
    heap: Heap
    start: Moment
    end: Moment
    asked: set[Hashable]
    leaves_asked: bool


class Apart:
    """Watches the entry points of one run, and runs single ones again."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._given = machine.fuel
        self._segments: list[Segment] = []
        self._open: list[Segment] = []
        self._heap: Heap | None = None
        self._heaps = 0
        self._off = machine.evidence is not None
        self._asked: set[Hashable] = set()

    def run(self, entry: Entry) -> list[str]:
        """Run an entry, and note what it does; what it returns."""
        heap = self._begin()
        if heap is None:
            return entry()
        start = self._start(heap)
        names = entry()
        now = self._moment(heap)
        kept = entry if self._is_apart(start, now) else None
        self._open.append(Segment(kept, names, heap, start, now, self._asked, self._machine.leaves_asked))
        if len(self._open) * PER_ENTRY >= heap.size:
            self._close()
        return names

    def _start(self, heap: Heap) -> Moment:
        """The moment before an entry: but for the time, that after the one before."""
        last = self._open[-1] if self._open else self._segments[-1] if self._segments else None
        if last is None or last.heap is not heap:
            return self._moment(heap)
        return last.end._replace(clock=self._machine.clock, loops=self._machine._loops_begun)

    def _close(self) -> None:
        """Look whether the last entries have changed anything that others can reach."""
        if self._open and self._heap is not None and not self._heap.is_same():
            self._open = [segment._replace(entry=None) for segment in self._open]
            self._heap = None
            self._heaps += 1
            self._off = self._heaps > MAX_HEAPS
        self._segments += self._open
        self._open = []

    def _begin(self) -> Heap | None:
        from autodetach.machine.heap import Heap, Unclear

        if self._off:
            return None
        try:
            self._heap = self._heap or Heap(self._machine, NOT_REACHED)
        except Unclear:
            self._off = True
            return None
        self._asked, self._machine.leaves_asked = set(), False
        self._note(self._machine.oracle.known, self._machine.oracle.equal_to, self._machine._syms)
        return self._heap

    def other(self, policy: Policy, fuel: int) -> Machine | None:
        """What the machine of the path `policy` shows, which differs from that of the run in one test; None if unclear.

        `fuel` is what that run is given. Raises Spoilt.
        """
        self._close()
        if self._off or self._heap is None or len(policy.flips) != 1 or policy.opened or self._machine.tasks.all:
            return None
        ((key, _),) = policy.flips
        place = next((n for n, s in enumerate(self._segments) if key in s.end.visits), None)
        if place is None or not self._stands_alone(place) or key in self._segments[place].start.visits:
            return None
        return self._again(place, policy, fuel)

    def _stands_alone(self, place: int) -> bool:
        """Whether nothing before has, and nothing later can have, to do with an entry point."""
        segment = self._segments[place]
        last = self._segments[-1].end
        start, end = segment.start, segment.end
        decided = end.decided(start)
        return (
            segment.entry is not None
            and segment.heap is self._heap
            and (end.sizes["leaf_tensors"] == start.sizes["leaf_tensors"] or not self._leaves_asked_after(place))
            and start.visits.keys().isdisjoint(decided)
            and last.decided(end).isdisjoint(decided)
            and last.counted(end).isdisjoint(end.counted(start))
            and self._asked_after(place).isdisjoint(end.learned(start))
        )

    def _asked_after(self, place: int) -> set[Hashable]:
        return set().union(*(s.asked for s in self._segments[place + 1 :]))

    def _leaves_asked_after(self, place: int) -> bool:
        return any(segment.leaves_asked for segment in self._segments[place + 1 :])

    def _again(self, place: int, policy: Policy, fuel: int) -> Machine | None:
        """Run one entry from where it began, on what the run has left behind."""
        segment, machine = self._segments[place], self._machine
        entry, heap, start, end, last = segment.entry, segment.heap, segment.start, segment.end, self._segments[-1].end
        assert entry is not None
        lists = {name: getattr(machine, name) for name in LISTS}
        kept = {name: getattr(machine, name) for name in STATE}
        called = heap.called()
        for name, items in lists.items():
            setattr(machine, name, items[: start.sizes[name]])
        machine.oracle, machine.tests = Oracle(policy), TestIndex()
        machine.tests._keys, machine.tests._counts = dict(start.keys), dict(start.counts)
        machine.fuel, machine.clock = fuel, start.clock
        machine._serial, machine._loops_begun = start.serial, start.loops
        machine.oracle.visits = dict(start.visits)
        for one, was in zip(heap.functions, start.called, strict=True):
            one.called = was
        self._asked, machine.leaves_asked = set(), False
        self._note(start.known, start.equal_to, start.syms)
        first = self._moment(heap)
        try:
            names = entry()
        except (OutOfFuel, RecursionError):
            raise Spoilt from None
        after = self._moment(heap)
        if not self._is_apart(first, after) or not heap.is_same() or machine.tasks.all:
            raise Spoilt
        decisions, oracle = machine.oracle.decisions, kept["oracle"]
        made = {name: getattr(machine, name)[start.sizes[name] :] for name in LISTS}
        for name, value in (*lists.items(), *kept.items()):
            setattr(machine, name, value)
        for one, was in zip(heap.functions, called, strict=True):
            one.called = was
        old = end.decided(start)
        left = machine.fuel - self._given + fuel - (first.fuel - after.fuel) + (start.fuel - end.fuel)
        if (
            left < 0
            or names != segment.names
            or (after.sizes["leaf_tensors"] != end.sizes["leaf_tensors"] and self._leaves_asked_after(place))
            or bool(after.sizes["nodes"]) != bool(end.sizes["nodes"])  # whether there is any is asked for later
            or after.clock // STRIDE != end.clock // STRIDE
            or after.loops // STRIDE != end.loops // STRIDE
            or after.called != end.called
            or not (last.visits.keys() - old).isdisjoint(decisions)
            or not last.counted(end).isdisjoint(after.counted(first))
            or not self._asked_after(place).isdisjoint(after.learned(first))
        ):
            return None
        seen = twin(machine, Machine(policy, fuel))
        for name, items in lists.items():
            if made[name] or end.sizes[name] != start.sizes[name]:
                setattr(seen, name, [*items[: start.sizes[name]], *made[name], *items[end.sizes[name] :]])
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

    def _note(
        self,
        known: Mapping[Hashable, bool],
        equal_to: Mapping[Hashable, Hashable],
        syms: Mapping[Hashable, Sym],
    ) -> None:
        """From now on, note which facts are asked for; those that there are now are copied."""
        machine = self._machine
        machine.oracle.known = asked(known, self._asked)
        machine.oracle.equal_to = asked(equal_to, self._asked)
        machine._syms = asked(syms, self._asked)

    def _moment(self, heap: Heap) -> Moment:
        machine, oracle, tests = self._machine, self._machine.oracle, self._machine.tests
        return Moment(
            machine.fuel,
            machine.clock,
            machine._serial,
            machine._loops_begun,
            {name: len(getattr(machine, name)) for name in LISTS},
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

    def _is_apart(self, before: Moment, after: Moment) -> bool:
        """Whether nothing was done that is seen without being reached."""
        return (
            all(before.sizes[name] == after.sizes[name] for name in ENTERED)
            and _are_same(before.containers, after.containers[: len(before.containers)])
            and not self._machine.leaves_asked
            and not any(self._machine.active.values())
        )


def _are_same(some: list[object], others: list[object]) -> bool:
    return len(some) == len(others) and all(map(operator.is_, some, others))
