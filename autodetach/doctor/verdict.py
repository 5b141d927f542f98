"""From what was seen to what is said of it."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

from autodetach.doctor.diagnosis import Diagnosis, Kind, Step
from autodetach.doctor.frames import Site
from autodetach.doctor.holders import Binding
from autodetach.doctor.nodes import NO_SEQUENCE, Node, Saved, address_of, changed_since, reachable, saved
from autodetach.doctor.places import cell_name
from autodetach.doctor.scan import Scan, breadth_first, way_to
from autodetach.doctor.stores import hands_over, stores

if TYPE_CHECKING:
    from autodetach.doctor.census import Census
    from autodetach.doctor.growth import Growth
    from autodetach.doctor.holders import Search
    from autodetach.doctor.journal import Call, Journal
    from autodetach.doctor.lines import Lines
    from autodetach.doctor.series import Series

FREED = ("backward through the graph a second time", "already been freed")
FEW_STORES = 4
MAX_NEAR = 100
RECENT = 4
"""Names that have grown by the same in so many looks hold the same."""
CHANGED = "modified by an inplace operation"


@dataclass(frozen=True, eq=False, slots=True)
class Crossing:
    """An edge from a new node (None: the differentiation begins below it) to one that an earlier call, `walker`, has
    walked, and the nodes on the way from there `below` to the one that raises."""

    reader: Node | None
    carried: Node
    walker: Call | None
    below: tuple[Node, ...]

    @property
    def shared(self) -> bool:
        """Whether nothing crosses a pass: what reads was there before the earlier call was made."""
        return self.walker is not None and self.reader is not None and self.reader._sequence_nr() < self.walker.newest


class Records(Protocol):
    """What an observer has written down."""

    journal: Journal
    lines: Lines
    growth: Growth
    failed: bool

    @property
    def search(self) -> Search: ...

    @property
    def census(self) -> Census: ...

    def stepped_by(self, tensor: Any) -> Site | None: ...


class Verdict:
    """Reads the records of a run."""

    def __init__(self, seen: Records) -> None:
        self._seen = seen

    def of_error(
        self, call: Call, scan: Scan | None, roots: list[Node], error: RuntimeError, frame: FrameType
    ) -> Diagnosis | None:
        """What is behind an error of a differentiation; None if it is none of autograd's two."""
        text = str(error)
        if CHANGED in text:
            return self._changed(call, roots, frame)
        if any(words in text for words in FREED):
            return self._freed(call, scan, roots, frame)
        return None

    def results(self) -> list[Diagnosis]:
        """Growing holders and unused retained graphs, of a run that has not failed.

        After an error both are unfinished business: what had gathered may have been about to be used.
        """
        if self._seen.failed:
            return []
        growing = list(self._growing())
        return [*growing, *([] if growing else self._hoarded()), *self._retained()]

    # A freed graph.

    def _freed(self, call: Call, scan: Scan | None, roots: list[Node], frame: FrameType) -> Diagnosis:
        freed = scan.freed if scan is not None else []
        crossings: dict[Node, Crossing] = {}
        for node in freed or self._freed_before(roots):
            crossing = self._crossing(roots, node)
            crossings.setdefault(crossing.carried, crossing)
        named = [(crossing, self._bindings(crossing, frame)) for crossing in crossings.values()]
        # What a name holds first, then what was built last.
        named.sort(key=lambda one: (not one[1], -one[0].carried._sequence_nr()))
        raised = Step(call.site, f"{_nth(call)}: backward needs the freed part again: PyTorch raises")
        if not named:
            text = "the graph of this call was freed by an earlier one, which was not observed"
            return Diagnosis(Kind.FREED, text, call.site, story=(raised,))
        crossing, bindings = named[0]
        binding = bindings[0] if bindings else None
        name = f"`{binding.path}`" if binding is not None else "a tensor that no name holds any more"
        others = [names[0] for _, names in named[1:] if names and names[0] != binding]
        story = [self._built(crossing.carried, f"builds {name} ({_words(crossing.carried)})", binding)]
        story += self._stored(binding, story[0])
        message = f"{name} still carries a graph that was freed"
        if crossing.walker is not None:
            line = crossing.walker.site.line
            message = f"{name} carries a graph that line {line} has freed, and `backward` walks into it again"
            if crossing.shared:
                this, (other, top) = self._first_name(roots, frame), self._newest_name(crossing.walker, frame)
                if other is not None and top is not None and other != binding:
                    story.append(self._built(top, f"`{other.path}` is built over it"))
                message = (
                    f"{_quoted(this)} shares the graph of {name} with {_quoted(other)}, for which line {line} freed it"
                )
            story.append(Step(crossing.walker.site, f"{_nth(crossing.walker)}: backward frees its graph"))
        if crossing.reader is not None:
            story.append(self._built(crossing.reader, f"reads it again ({_words(crossing.reader)})"))
        story.append(raised)
        return Diagnosis(Kind.FREED, message, call.site, binding, tuple(story), tuple(dict.fromkeys(others)))

    def _freed_before(self, roots: list[Node]) -> list[Node]:
        """Without a look before the call: freed nodes that were walked, or may have been, before it."""
        journal = self._seen.journal
        found: list[Node] = []
        seen: set[Node] = set()
        stack = list(roots)
        while stack:
            node = stack.pop()
            if node in seen:
                continue
            seen.add(node)
            sequence = node._sequence_nr()
            if sequence != NO_SEQUENCE and journal.walked(sequence):
                state, walker = saved(node), journal.walker(sequence)
                # A call that did not retain its graph has freed it.
                if state is Saved.FREED or (state is Saved.UNKNOWN and walker is not None and not walker.retains):
                    found.append(node)
                    continue
            stack += [below for below, _ in node.next_functions if below is not None]
        return found

    def _crossing(self, roots: list[Node], old: Node) -> Crossing:
        """Where the way down to an old node leaves what is new.

        New is what was built after the earlier call; where all was built before it (two losses over one trunk), what
        that call has not walked.
        """
        journal = self._seen.journal
        walker = journal.walker(old._sequence_nr())
        way = way_to(roots, old) or [old]
        if walker is None:
            return Crossing(way[-2] if len(way) > 1 else None, old, None, (old,))
        for is_old in (
            lambda node: node._sequence_nr() < walker.newest,
            lambda node: journal.walker(node._sequence_nr()) is walker,
        ):
            first = next((n for n, node in enumerate(way) if is_old(node)), len(way) - 1)
            if first:
                break
        return Crossing(way[first - 1] if first else None, way[first], walker, tuple(way[first:]))

    def _bindings(self, crossing: Crossing, frame: FrameType) -> list[Binding]:
        """The names that hold what is carried, or held it when last looked: the plainest first."""
        holding = self._holding(frame)
        for node in crossing.below:
            names = holding.get(node) or self._seen.journal.names(node._sequence_nr())
            if names:
                return sorted(names, key=_plainness)
        return []

    def _first_name(self, roots: list[Node], frame: FrameType) -> Binding | None:
        """The name of what is differentiated, or of the nearest that has one below it."""
        holding = self._holding(frame)
        for node in islice(breadth_first(roots), MAX_NEAR):
            if node in holding:
                return min(holding[node], key=_plainness)
        return None

    def _newest_name(self, walker: Call, frame: FrameType) -> tuple[Binding | None, Node | None]:
        """Of the named tensors whose graph this call has walked, the one that was built last."""
        walked = walker.sequences or ()
        holding = self._holding(frame)
        nodes = [node for node in holding if node._sequence_nr() in walked]
        if not nodes:
            return None, None
        newest = max(nodes, key=lambda node: node._sequence_nr())
        return min(holding[newest], key=_plainness), newest

    def _holding(self, frame: FrameType) -> dict[Node, list[Binding]]:
        """The names that hold a tensor, by its node."""
        holding: dict[Node, list[Binding]] = {}
        for held in self._seen.search.held(frame):
            holding.setdefault(held.tensor.grad_fn, []).append(held.binding)
        return holding

    def _stored(self, binding: Binding | None, built: Step) -> Iterator[Step]:
        """The statements that store into the name, where they are few and it is not the one that builds."""
        sites = stores(binding, self._seen.search.files()) if binding is not None else ()
        others = [site for site in sites if site not in (built.site, *built.calls)]
        if binding is not None and len(sites) <= FEW_STORES:
            yield from (Step(site, f"`{binding.path}` is stored") for site in others)

    # A tensor that was changed.

    def _changed(self, call: Call, roots: list[Node], frame: FrameType) -> Diagnosis | None:
        for node in reachable(iter(roots)):
            for tensor in changed_since(node):
                if self._seen.journal.walker(node._sequence_nr()) is not None:
                    return self._carried_and_changed(call, self._crossing(roots, node), node, tensor, frame)
                return self._changed_tensor(call, node, tensor, frame, roots)
        text = "a tensor that this call needs was changed in place since; which one, this PyTorch does not show"
        return Diagnosis(Kind.CHANGED, text, call.site)

    def _carried_and_changed(
        self, call: Call, crossing: Crossing, node: Node, tensor: Any, frame: FrameType
    ) -> Diagnosis:
        """A graph that was walked before, and retained, is walked again after a step: the cause is what carries it."""
        binding = next(iter(self._bindings(crossing, frame)), None)
        name = f"`{binding.path}`" if binding is not None else "a tensor that no name holds any more"
        changed_tensor = self._changed_tensor(call, node, tensor, frame)
        story = [self._built(crossing.carried, f"builds {name} ({_words(crossing.carried)})")]
        if crossing.walker is not None:
            story.append(
                Step(crossing.walker.site, f"{_nth(crossing.walker)}: backward walks its graph, which is kept")
            )
        story += changed_tensor.story[1:-1]
        if crossing.reader is not None:
            story.append(self._built(crossing.reader, f"reads {name} again ({_words(crossing.reader)})"))
        story.append(changed_tensor.story[-1])
        message = f"{name} carries a graph of an earlier pass, and {changed_tensor.message}"
        return Diagnosis(Kind.CHANGED, message, call.site, binding, tuple(story))

    def _changed_tensor(
        self, call: Call, node: Node, tensor: Any, frame: FrameType, roots: Sequence[Node] = ()
    ) -> Diagnosis:
        binding = next(iter(self._names_of(tensor, frame)), None)
        stepped = self._seen.stepped_by(tensor)
        changed = self._seen.lines.changed(tensor) or stepped
        name = f"`{binding.path}`" if binding is not None else f"a tensor of shape {list(tensor.shape)}"
        story = [self._built(node, f"uses {name}, and keeps it for its backward ({_words(node)})")]
        how = "the optimizer's step changes it in place" if changed is stepped else f"changes {name} in place"
        story.append(Step(changed, how))
        story.append(Step(call.site, f"{_nth(call)}: backward needs {name} as it was: PyTorch raises"))
        root = self._first_name(list(roots), frame)
        graph = f"the graph of `{root.path}`" if root is not None else "the graph"
        by = f" by line {changed.line}," if changed is not None else ""
        message = f"{name} was changed in place{by} after {graph} had kept it"
        return Diagnosis(Kind.CHANGED, message, call.site, binding, tuple(story))

    def _names_of(self, tensor: Any, frame: FrameType) -> Iterator[Binding]:
        address = address_of(tensor)
        names = [
            binding
            for binding, other in self._seen.search.tensors(frame)
            if other is tensor or (address and address_of(other) == address)
        ]
        yield from sorted(names, key=_plainness)

    # What grows, and what is kept for nothing.

    def _growing(self) -> Iterator[Diagnosis]:
        """One for each thing that gathers: of the names for it, the one that holds least besides."""
        groups: dict[tuple[int, ...], list[Series]] = {}
        for series in self._seen.growth.leaks():
            groups.setdefault(tuple(series.increments[-RECENT:]), []).append(series)
        for same in groups.values():
            yield self._growth_of(min(same, key=lambda series: (series.looks[-1].nodes, _plainness(series.binding))))

    def _growth_of(self, series: Series) -> Diagnosis:
        binding = series.binding
        segment = series.segment
        sites = stores(binding, self._seen.search.files())
        story = [Step(site, f"`{binding.path}` takes a tensor with its graph") for site in sites]
        passes = segment[-1].number - segment[0].number
        story.append(
            Step(None, f"held {segment[0].nodes} nodes of graph, and {segment[-1].nodes} after {passes} looks")
        )
        message = f"`{binding.path}` ({binding.where}) keeps the autograd graph of every pass"
        if not sites:
            # Nobody stores into it where it can be read: the line that builds is next best.
            story[:0] = self._built_by(sorted(series.tops), "builds what it takes")
        site = next((s for s in _all_sites(story) if os.path.isfile(s.path) or cell_name(s.path)), None)
        first, last = segment[0].nodes, segment[-1].nodes
        return Diagnosis(
            Kind.GROWTH, message, site, binding, tuple(story), (), last, series.bytes, first, series.per_pass
        )

    def _hoarded(self) -> Iterator[Diagnosis]:
        """What gathers where no name of the program leads."""
        search, journal = self._seen.search, self._seen.journal
        hoard = self._seen.census.hoard(lambda: {id(held.tensor) for held in search.held(None)})
        if hoard is None:
            return
        way = hoard.way
        binding = Binding(f"{way.module}.{way.gathering}", way.module, way.file)
        names = {name for sequence in hoard.sequences for name in journal.all_names(sequence)}
        story = [Step(site, "hands it over") for site in hands_over(names)]
        story += self._built_by(hoard.sequences, "builds what is kept")
        inner = Binding(way.gathering, way.root, way.file)
        story += [Step(site, f"`{way.gathering}` takes a tensor with its graph") for site in stores(inner)]
        text = f"held {hoard.counts[0]} tensors with a graph, and {hoard.counts[-1]} at the end, such as `{way.path}`"
        story.append(Step(None, text))
        message = f"`{binding.path}`, which no name of the program leads to, keeps the autograd graph of every pass"
        site = next(_all_sites(story), None)
        yield Diagnosis(Kind.GROWTH, message, site, binding, tuple(story), nodes=hoard.nodes)

    def _built_by(self, sequences: Iterable[int], text: str) -> list[Step]:
        """The line of the first of these nodes of which it was seen."""
        for sequence in sequences:
            sites = self._seen.lines.built(sequence)
            if sites:
                return [Step(sites[0], text, sites[1:])]
        return []

    def _retained(self) -> Iterator[Diagnosis]:
        for line in self._seen.journal.retained.values():
            if line.used or line.calls < 2:
                continue
            message = f"`retain_graph=True`: none of the {line.calls} graphs that were kept here was walked again"
            story = (Step(line.site, f"each keeps {size(line.bytes)} until its last tensor goes"),)
            yield Diagnosis(Kind.RETAINED, message, line.site, story=story, bytes=line.bytes)

    def _only_store(self, binding: Binding | None) -> Site | None:
        """The one statement that stores it: where nobody saw the line that built it."""
        sites = stores(binding, self._seen.search.files()) if binding is not None else ()
        return sites[0] if len(sites) == 1 else None

    # Words.

    def _built(self, node: Node, text: str, binding: Binding | None = None) -> Step:
        sites = self._seen.lines.built(node._sequence_nr())
        return Step(sites[0], text, sites[1:]) if sites else Step(self._only_store(binding), text)


def _all_sites(story: Iterable[Step]) -> Iterator[Site]:
    for step in story:
        yield from (site for site in (step.site, *step.calls) if site is not None)


def _quoted(binding: Binding | None) -> str:
    return f"`{binding.path}`" if binding is not None else "a tensor without a name"


def _nth(call: Call) -> str:
    return f"call {call.count} of this line"


def _plainness(binding: Binding) -> tuple[bool, bool, int, int]:
    """What is reached by attributes first, which outlives a pass by its nature; then variables, then elements."""
    steps = binding.path.replace("[", ".").count(".")
    return "[" in binding.path, "." not in binding.path, steps, len(binding.path)


def size(count: int) -> str:
    """Bytes in words."""
    amount = float(count)
    for unit in ("bytes", "KiB", "MiB"):
        if amount < 1024:
            return f"{amount:.0f} {unit}" if unit == "bytes" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} GiB"


def _words(node: Node) -> str:
    return node.name().rsplit("::", 1)[-1]
