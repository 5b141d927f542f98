"""How much graph each name holds, look after look."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, pairwise

from autodetach.doctor.frames import Site
from autodetach.doctor.holders import Binding, Held, Home
from autodetach.doctor.loops import Loop
from autodetach.doctor.nodes import NO_SEQUENCE, Node, reachable
from autodetach.doctor.passes import Spot, gone_round
from autodetach.doctor.series import MIN_RISES, Look, Series

ALL_LOOKS = 12
"""So many passes are looked at one by one, later ones less and less often."""
MAX_NODES = 60_000
QUIET = 4
"""So many calls without what usually ends a pass are passes themselves."""
MAX_NEW = 8
MAX_BELOW = 2
"""What was added to a sum lies so far below it: `total += 0.1 * loss`."""
CONSUMED = 2
"""Of the tensors that gathered in a holder, so many in one differentiation make use of it."""


@dataclass(frozen=True, slots=True)
class Total:
    """What all names together held at a look, in nodes of graph, and how many steps, differentiations and calls of
    modules there had been."""

    steps: int
    backwards: int
    forwards: int
    nodes: int


class Growth:
    """The series of all holders, by the event after which they were looked at."""

    def __init__(self) -> None:
        self._passes: dict[tuple[str, str, int], int] = {}
        self._next: dict[tuple[str, str, int], int] = {}
        self._number = 0
        self._quiet = 0
        self._forwards = 0
        self._stepped = False
        self._since: dict[str, int] = {}
        self._before: dict[str, int] = {}
        self._blind = False
        self.series: list[Series] = []
        self._known: dict[tuple[object, ...], Series] = {}
        self.totals: list[Total] = []
        self._spots: list[tuple[Spot, ...]] = []
        self._events: Counter[str] = Counter()

    def ends_pass(self, event: str) -> bool:
        """Count an event, and say whether it ends a pass.

        Steps of optimizers do; calls of `backward` do in programs without them, and calls of modules where neither
        follows.
        """
        self._events[event] += 1
        self._quiet = 0 if event == "step" else self._quiet + 1
        if event == "backward":
            self._forwards = 0
        elif event == "forward":
            self._forwards += 1
        if (event == "backward" and self._quiet < QUIET and self._stepped) or (
            event == "forward" and self._forwards < QUIET
        ):
            return False
        self._stepped |= event == "step"
        return True

    def due(self, event: str, site: Site) -> bool:
        """Count a pass that has ended at this line, and say whether to look at it."""
        key = (event, site.path, site.line)
        count = self._passes[key] = self._passes.get(key, 0) + 1
        if count < self._next.get(key, 0):
            return False
        self._next[key] = count + (1 if count < ALL_LOOKS else max(1, count // 8))
        return True

    def look(
        self,
        event: str,
        held: Iterable[Held],
        step: int,
        newest: int,
        weigh: Callable[[Iterator[Node]], int] | None = None,
        *,
        every: bool = False,
        at: tuple[Spot, ...] = (),
    ) -> None:
        """Take what every name holds into its series; `newest` is the sequence number that the next node will have.

        `weigh` counts the bytes that nodes have saved, of what has grown for some time, or of `every` holder. `at` is
        where the program is.
        """
        self._number += 1
        self._spots.append(at)
        groups: dict[Home, tuple[Binding, dict[Node, int]]] = {}
        for each in held:
            node = each.tensor.grad_fn
            groups.setdefault(each.home, (each.holder, {}))[1][node] = node._sequence_nr()
        oldest = oldest_below(node for _, tops in groups.values() for node in tops)
        since, self._since[event] = self._since.get(event, 0), newest
        before, self._before[event] = self._before.get(event, 0), since
        olds = {home: min(oldest[node] for node in tops) for home, (_, tops) in groups.items()}
        # All of what others hold is of this pass.
        grown = {home: binding for home, (binding, _) in groups.items() if olds[home] < since}
        for home, series in self._series_of(event, grown).items():
            tops, old = groups[home][1], olds[home]
            count = sum(1 for _ in islice(reachable(iter(tops)), MAX_NODES))
            if series.looks and series.home != home.owner and count < series.looks[-1].nodes:
                series.begin_anew()
            series.home = home.owner
            if len(series.looks) < ALL_LOOKS:
                series.parts += _new(tops, series.tops, before)
            series.tops.update(sequence for sequence in tops.values() if sequence != NO_SEQUENCE)
            series.looks.append(Look(self._number, count, old, self._blind, self._events[event]))
            if weigh is not None and (every or series.rises >= MIN_RISES):
                series.bytes = weigh(islice(reachable(iter(tops)), MAX_NODES))
                series.looks[-1] = replace(series.looks[-1], bytes=series.bytes)
        for series in self.series:
            if series.event == event and series.looks[-1].number != self._number and series.looks[-1].nodes:
                series.empty(Look(self._number, 0, passes=self._events[event], bytes=0))
        self._blind = False
        self.totals.append(Total(step, self._events["backward"], self._events["forward"], len(oldest)))

    def _series_of(self, event: str, homes: dict[Home, Binding]) -> dict[Home, Series]:
        """For each holder, that of the same container by whatever name, or else of the same variable or attribute; or
        else, since objects and activations of functions are made anew, one of the same name that nothing else has."""
        found: dict[Home, Series] = {}
        taken: set[int] = set()
        for by_name in (False, True):
            for home, binding in homes.items():
                keys = [(binding.file, binding.function, binding.path)] if by_name else [*_identities(home)]
                known = (self._known.get((event, *key)) for key in keys)
                series = next((each for each in known if each is not None and id(each) not in taken), None)
                if home not in found and (series is not None or by_name):
                    found[home] = series or Series(binding, event=event)
                    taken.add(id(found[home]))
        for home, series in found.items():
            binding = homes[home]
            if not series.looks:
                self.series.append(series)
            for identity in (*_identities(home), (binding.file, binding.function, binding.path)):
                key = (event, *identity)
                self._known[key] = series
        return found

    def skipped(self) -> None:
        """A differentiation is not looked at."""
        self._blind = True

    def consumed(self, sequences: set[int]) -> None:
        """A differentiation walks these nodes."""
        for series in self.series:
            if len(series.tops) >= CONSUMED and len(series.tops & sequences) >= max(CONSUMED, len(series.tops) // 4):
                series.consumed.append(self._number)

    def loop_of(self, series: Series) -> Loop | None:
        """The loop whose passes have most often been seen to add to it."""
        loops: Counter[Loop] = Counter()
        for before, after in pairwise(series.segment):
            if after.number == before.number + 1 and after.nodes > before.nodes:
                then, now = self._spots[before.number - 1], self._spots[after.number - 1]
                ran_again = bool(then and now) and then[0].site == now[0].site
                loop = gone_round(then, now, ran_again=ran_again)
                loops.update([loop] if loop is not None else [])
        return max(loops, key=lambda loop: loops[loop], default=None)

    def leaks(self) -> list[Series]:
        """The holders that leak, the fastest first: one series for each name."""
        found: dict[tuple[str, str, str], Series] = {}
        for event in ("step", "backward", "forward"):
            for series in self.series:
                key = (series.binding.file, series.binding.function, series.binding.path)
                if series.event == event and key not in found and series.leaks:
                    found[key] = series
        return sorted(found.values(), key=lambda series: -series.growth)


def _identities(home: Home) -> Iterator[tuple[object, ...]]:
    if home.content:
        yield (home.content,)
    yield home.owner, home.step


def _new(tops: dict[Node, int], known: set[int], since: int) -> list[int]:
    """The sequence numbers of a few nodes that are not known yet, and of those right below that have one from `since`
    on."""
    found: dict[Node, int] = {}
    level = [node for node, number in tops.items() if number not in known and number != NO_SEQUENCE]
    for _ in range(MAX_BELOW + 1):
        found.update((node, node._sequence_nr()) for node in level[:MAX_NEW])
        below = (each for node in level for each, _ in node.next_functions if each is not None)
        level = [node for node in below if since <= node._sequence_nr() < NO_SEQUENCE]
    return list(found.values())


def oldest_below(roots: Iterable[Node]) -> dict[Node, int]:
    """For every node below the roots, they included, the smallest sequence number below it, its own included."""
    oldest: dict[Node, int] = {}
    stack: list[tuple[Node, tuple[Node, ...] | None]] = [(root, None) for root in roots]
    while stack:
        node, below = stack.pop()
        if below is None:
            if node in oldest:
                continue
            oldest[node] = node._sequence_nr()
            below = tuple(each for each, _ in node.next_functions if each is not None)
            stack.append((node, below))
            stack += [(each, None) for each in below if each not in oldest]
        elif below:
            oldest[node] = min(oldest[node], *(oldest[each] for each in below))
    return oldest
