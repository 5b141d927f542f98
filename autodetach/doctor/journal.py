"""The differentiations of a run, in order, and which nodes each of them walked."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from autodetach.doctor.frames import Site
from autodetach.doctor.holders import Binding
from autodetach.doctor.passes import Spot

MAX_WALKED = 400_000
"""Sequence numbers that are kept: those of the oldest calls go first."""
MAX_SNAPSHOTS = 32


@dataclass(eq=False, slots=True)
class Call:
    """One call of `backward` or `autograd.grad`: the `number` of all, the `count` of those from its line, from 1.

    `sequences` are those of the nodes that it walks, None where the call was not looked at.
    """

    number: int
    site: Site
    count: int
    retains: bool
    creates: bool
    accumulates: bool
    """Whether it is `backward`, and not `autograd.grad`."""
    sequences: set[int] | None = None
    used: bool = False
    bytes: int = 0
    newest: int = 0
    """The sequence number that the first node built after it has."""
    spots: tuple[Spot, ...] = ()
    """Where the user's functions were, where it was looked at."""
    stepped: tuple[Site, ...] = ()
    """The line of the first step of an optimizer after it, and those that had called it, outwards."""


@dataclass(eq=False, slots=True)
class Retained:
    """The calls of one line that retained their graph and were looked at: how many, and how many of these graphs were
    walked again; `bytes` is the most that one of them kept."""

    site: Site
    calls: int = 0
    used: int = 0
    bytes: int = 0


@dataclass(eq=False, slots=True)
class Journal:
    """Who walked a node, and what held it then."""

    calls: int = 0
    unseen_up_to: int = -1
    """Nodes up to this sequence number may have been walked by a call that was not looked at."""
    threads: set[int] = field(default_factory=set)
    """Those that have differentiated. Each numbers its nodes by itself."""
    _counts: dict[tuple[str, int], int] = field(default_factory=dict)
    _unstepped: deque[Call] = field(default_factory=lambda: deque(maxlen=MAX_SNAPSHOTS))
    _walked: dict[int, Call] = field(default_factory=dict)
    _recent: deque[Call] = field(default_factory=deque)
    _names: deque[dict[int, list[Binding]]] = field(default_factory=lambda: deque(maxlen=MAX_SNAPSHOTS))
    _first_names: list[dict[int, list[Binding]]] = field(default_factory=list)
    retained: dict[tuple[str, int], Retained] = field(default_factory=dict)

    def begin(self, site: Site, retains: bool, creates: bool, accumulates: bool, thread: int = 0) -> Call:
        """A call begins, in a thread."""
        self.calls += 1
        self.threads.add(thread)
        key = (site.path, site.line)
        self._counts[key] = self._counts.get(key, 0) + 1
        return Call(self.calls, site, self._counts[key], retains, creates, accumulates)

    def only_line(self) -> tuple[str, int] | None:
        """File and line of all calls so far, if it is one."""
        return next(iter(self._counts)) if len(self._counts) == 1 else None

    def ran_again(self, call: Call) -> bool:
        """Whether its line has differentiated once more since."""
        return self._counts[call.site.path, call.site.line] > call.count

    @property
    def waits_for_step(self) -> bool:
        """Whether a call was looked at since an optimizer has stepped."""
        return bool(self._unstepped)

    def begin_anew(self) -> None:
        """Forget how often and where, and keep what was walked: it is freed."""
        self.calls = 0
        self.retained = {}
        self.threads.clear()
        self._unstepped.clear()

    def step(self, sites: tuple[Site, ...]) -> None:
        """An optimizer has stepped at this line, called from the others."""
        while self._unstepped:
            self._unstepped.pop().stepped = sites

    def walked(self, sequence: int) -> bool:
        """Whether an earlier call has, or may have, walked the node."""
        return sequence in self._walked or sequence <= self.unseen_up_to

    def frees(self, sequence: int) -> bool:
        """Whether the last call that is known to have walked the node did not retain it."""
        walker = self._walked.get(sequence)
        return walker is not None and not walker.retains

    def walker(self, sequence: int) -> Call | None:
        """The last call that is known to have walked the node."""
        return self._walked.get(sequence)

    def end(self, call: Call, newest: int) -> None:
        """The call has succeeded; `newest` is the sequence number that the next node will have."""
        call.newest = newest
        if call.sequences is None:
            self.unseen_up_to = max(self.unseen_up_to, newest - 1)
            return
        for sequence in call.sequences:
            self._walked[sequence] = call
        self._unstepped.append(call)
        self._recent.append(call)
        while len(self._walked) > MAX_WALKED and len(self._recent) > 1:
            self._forget(self._recent.popleft())
        if call.retains and call.accumulates and not call.creates:
            line = self.retained.setdefault((call.site.path, call.site.line), Retained(call.site))
            line.calls += 1
            line.bytes = max(line.bytes, call.bytes)

    def use(self, sequences: set[int]) -> None:
        """A call walks nodes that earlier ones have retained."""
        for sequence in sequences:
            walker = self._walked.get(sequence)
            if walker is not None and not walker.used:
                walker.used = True
                line = self.retained.get((walker.site.path, walker.site.line))
                if line is not None:
                    line.used += 1

    def snapshot(self, names: dict[int, list[Binding]]) -> None:
        """Which names hold which nodes now."""
        self._names.append(names)
        if len(self._first_names) < MAX_SNAPSHOTS:
            self._first_names.append(names)

    def names(self, sequence: int) -> list[Binding]:
        """The names that held a tensor of this node when last looked, those of the latest look first."""
        for names in reversed(self._names):
            if sequence in names:
                return names[sequence]
        return []

    def all_names(self, sequence: int) -> set[Binding]:
        """All names that have held a tensor of this node, as far as the looks are kept: the first and the last."""
        return {name for names in (*self._first_names, *self._names) for name in names.get(sequence, ())}

    def _forget(self, call: Call) -> None:
        for sequence in call.sequences or ():
            if self._walked.get(sequence) is call:
                del self._walked[sequence]
        call.sequences = None
