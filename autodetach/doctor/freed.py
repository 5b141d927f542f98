"""An error of PyTorch: a differentiation needs what an earlier one has freed."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from autodetach.doctor.crossing import Crossing, crossing_to
from autodetach.doctor.diagnosis import Diagnosis, Kind, Step
from autodetach.doctor.frames import Site
from autodetach.doctor.holders import Binding
from autodetach.doctor.journal import Call
from autodetach.doctor.lines import MAX_FRAMES, Cut
from autodetach.doctor.loops import Loop
from autodetach.doctor.names import Names
from autodetach.doctor.nodes import NO_SEQUENCE, Node
from autodetach.doctor.reading import statement_at
from autodetach.doctor.records import Records
from autodetach.doctor.scan import Scan, scan
from autodetach.doctor.stores import last_name, stores
from autodetach.doctor.telling import built, called, described, node_words, nth, quoted, quoted_call
from autodetach.machine.spelling import spelled

FEW_STORES = 4
MAX_CUTS = 2


class Freed:
    """Tells of one call that has failed."""

    def __init__(self, seen: Records, call: Call, roots: list[Node], names: Names) -> None:
        self._seen = seen
        self._call = call
        self._roots = roots
        self._names = names

    def diagnosis(self, found: Scan | None) -> Diagnosis:
        """What it walks into; `found` is what was seen before the call, None if nobody looked."""
        journal = self._seen.journal
        freed = found.freed if found is not None else []
        crossings: dict[Node, Crossing] = {}
        for each in freed or scan(self._roots, journal.walked, journal.frees).freed:
            one = crossing_to(each, self._roots, self._call, journal)
            crossings.setdefault(one.carried, one)
        named = [(one, *self._names.of_first(one.below)) for one in crossings.values()]
        # What a name holds first, then what was built last.
        named.sort(key=lambda one: (not one[2], -one[0].carried._sequence_nr()))
        raised = Step(self._call.site, f"{nth(self._call)}: backward needs the freed part again: PyTorch raises")
        if not named:
            text = "the graph of this call was freed by an earlier one, which was not observed"
            return Diagnosis(Kind.FREED, text, self._call.site, story=(raised,))
        crossing, node, names = named[0]
        binding = names[0] if names else None
        others = [names[0] for _, _, names in named[1:] if names and names[0] != binding]
        text = f"builds {called(binding)} ({node_words(crossing.carried)})"
        first = built(self._seen, crossing.carried, text, binding)
        other = self._other(crossing, node, binding, first)
        story = [first, *self._stored((binding, other), first), *self._walked(crossing, binding)]
        if crossing.reader is not None:
            reads = built(self._seen, crossing.reader, f"reads it again ({node_words(crossing.reader)})")
            story += [reads] * (reads.site is not None)
        message = self._message(crossing, described(binding, other))
        return Diagnosis(Kind.FREED, message, self._call.site, binding, (*story, raised), tuple(dict.fromkeys(others)))

    def _other(self, crossing: Crossing, node: Node | None, binding: Binding | None, first: Step) -> Binding | None:
        """Another name of what is carried."""
        if node is None or binding is None:
            return None
        lines = [site for site in (first.site, *first.calls) if site is not None]
        return self._names.other(node, binding, lines, crossing.walker.site.function if crossing.walker else "")

    def _message(self, crossing: Crossing, name: str) -> str:
        walker = crossing.walker
        lines = self._seen.lines.built(crossing.carried._sequence_nr()) if walker is not None else ()
        if walker is None:
            several, only = len(self._seen.journal.threads) > 1, self._seen.journal.only_line()
            who = f"an earlier call of line {only[1]} has freed" if only is not None else "was freed"
            why = ", and `backward` walks into it again: several threads differentiate" if several else ""
            return f"{name} carries a graph that {who}{why}"
        freed = f"{name} carries a graph that line {walker.site.line} has freed"
        if crossing.shared:
            this, (that, _) = self._names.nearest(self._roots), self._names.newest_of(walker)
            return (
                f"{quoted(this)} shares the graph of {name} with {quoted(that)}, "
                f"for which line {walker.site.line} freed it"
            )
        if crossing.loop is not None and _is_outside(crossing.loop, lines):
            this = self._names.nearest(self._roots)
            return (
                f"{freed}: {quoted_call(lines[0])} builds it once, outside the loop of line {crossing.loop.head}, "
                f"and the backward of {quoted(this)} walks it again in the next pass"
            )
        dropped = next((text for text, _ in self._dropped(crossing)), None)
        if dropped is not None:
            return f"{freed}, and `backward` walks into it again: {dropped} leaves it as it is"
        return f"{freed}, and `backward` walks into it again"

    def _stored(self, names: Iterable[Binding | None], first: Step) -> Iterator[Step]:
        """The statements that store into the names, where they are few and it is none of those that build."""
        told = {first.site, *first.calls}
        for name in names:
            if name is None:
                continue
            stored = self._names.holder_of(name)
            sites = stores(stored, self._seen.search.files())
            if len(sites) > FEW_STORES or not told.isdisjoint(sites):
                continue
            later = [site for site in sites if not site.function.endswith("__init__")]
            yield from (Step(site, f"stores into `{stored.path}`") for site in later or sites)
            told.update(sites)

    def _walked(self, crossing: Crossing, binding: Binding | None) -> Iterator[Step]:
        """From the earlier call to where the new graph begins to read."""
        walker = crossing.walker
        if walker is None:
            return
        if crossing.shared:
            that, top = self._names.newest_of(walker)
            if that is not None and top is not None and that != binding:
                yield built(self._seen, top, f"`{that.path}` is built over it")
        yield Step(walker.site, f"{nth(walker)}: backward frees its graph")
        if crossing.shared:
            return
        name = quoted(binding) if binding is not None else "it"
        found = [Step.at(sites, f"{text} has no effect on {name}") for text, sites in self._dropped(crossing)]
        found += self._cuts(crossing, binding)
        if walker.stepped:
            found.append(Step.at(walker.stepped, f"the optimizer steps, and {name} keeps that graph"))
        loop = crossing.loop
        if loop is not None:
            begins = Step(
                Site(loop.path, loop.first, loop.function),
                f"the next pass of the loop in line {loop.head} begins, and {name} still has it",
            )
            found.sort(key=lambda step: _turn(loop, walker, step))
            old_pass = sum(not _turn(loop, walker, step)[0] for step in found)
            found.insert(old_pass, begins)
        yield from found

    def _dropped(self, crossing: Crossing) -> Iterator[tuple[str, tuple[Site, ...]]]:
        """`h.detach()` as a statement, of what is carried: its text, and the lines."""
        carried = {node._sequence_nr() for node in crossing.below}
        for cut in self._since(crossing):
            statement = statement_at(cut.sites[0])
            if cut.sequence in carried and isinstance(statement, ast.Expr):
                yield f"`{spelled(statement)}` (line {cut.sites[0].line})", cut.sites
                return

    def _cuts(self, crossing: Crossing, binding: Binding | None) -> Iterator[Step]:
        """Other states that are detached before the next pass, into their own names."""
        told: set[Site] = set()
        for cut in self._since(crossing):
            statement, site = statement_at(cut.sites[0]), cut.sites[0]
            if not isinstance(statement, ast.Assign) or site in told or len(told) == MAX_CUTS:
                continue
            bound = {last_name(spelled(target)) for target in statement.targets}
            names = [n for n in self._seen.journal.names(cut.sequence) if last_name(n.path) in bound and n != binding]
            if names and cut.sequence not in {node._sequence_nr() for node in crossing.below}:
                told.add(site)
                yield Step.at(cut.sites, f"detaches `{names[0].path}`, and not {quoted(binding)}")

    def _since(self, crossing: Crossing) -> Iterator[Cut]:
        """What was detached between the earlier call and the new graph."""
        if crossing.walker is None or crossing.shared:
            return iter(())
        last = NO_SEQUENCE if crossing.reader is None else crossing.reader._sequence_nr()
        return (cut for cut in self._seen.lines.cuts(crossing.walker.newest, last) if cut.sites)


def _turn(loop: Loop, walker: Call, step: Step) -> tuple[bool, int]:
    """Orders what happens from a call to the next pass of a loop by its line in that: first what stands below the call,
    then, in the new pass, what stands above."""

    def line_of(sites: Iterable[Site | None]) -> int:
        own = (s.line for s in sites if s is not None and (s.path, s.function) == (loop.path, loop.function))
        return next(own, walker.site.line)

    line = line_of((step.site, *step.calls))
    return line < line_of(spot.site for spot in walker.spots), line


def _is_outside(loop: Loop, lines: tuple[Site, ...]) -> bool:
    """Whether what was built at these lines, outwards, was built outside the loop."""
    own = [site for site in lines if (site.path, site.function) == (loop.path, loop.function)]
    if own:
        return not any(loop.has(site.line) for site in own)
    return 0 < len(lines) < MAX_FRAMES
