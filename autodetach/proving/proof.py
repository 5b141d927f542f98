"""Whether an edited program has no new fault and still trains the same parameters from the same losses."""

from __future__ import annotations

import ast
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType

from autodetach.machine.activations import Activation, Loops, diverge, within
from autodetach.machine.events import Step
from autodetach.machine.graph import Differentiation, Node
from autodetach.machine.likeness import Likeness
from autodetach.machine.passes import passes_after
from autodetach.machine.run import Run
from autodetach.proving.further import ended_further_on
from autodetach.proving.leaf_names import LeafName, leaf_names
from autodetach.proving.ways import Reached, Ways, call_of, count, name_of, ways_of_pass
from autodetach.suspect import Candidate
from autodetach.view.program import place_text, stable

Trained = dict[tuple[str, str], set[LeafName]]
"""By what steps parameters, and where."""

NOTHING: Mapping[str, str] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kept`: gradient reach is as it must be. `equal`: not even gradient of earlier passes was cut off."""

    kept: bool
    equal: bool
    reason: str = ""


def compare(before: Run, after: Run, meant: Candidate, elsewhere: Trained) -> Verdict:
    """Compare what every parameter step consumes on one path; `meant` says what a candidate is meant to change.

    `elsewhere` is what each place that steps parameters still trains on the path that shows the fault, if a candidate
    cuts on purpose: with other options, some of it may be trained by nothing but what is cut.
    """
    if before.stopped_by and after.finished and (not after.stopped_by or ended_further_on(before, after)):
        return Verdict(True, True)  # the first program ended early on this path: the second may go on
    if not after.finished or after.stopped_by != before.stopped_by:
        return Verdict(False, False, "the edited program ends differently")
    if meant.gathers:
        return _compare_places(before, after)
    return _compare_runs(before, after, meant, elsewhere)


def _compare_places(before: Run, after: Run) -> Verdict:
    """Whether each place that steps parameters still does, and what it trains it still trains."""
    old, new = trained_by(before), trained_by(after)
    if old.keys() != new.keys():
        return Verdict(False, False, "another place steps parameters")
    if any(leaves - new[place] for place, leaves in old.items()):
        return Verdict(False, False, "a parameter gets no gradient any more")
    return Verdict(True, False)


def trained_by(run: Run) -> Trained:
    """The leaves whose gradient each place consumes that steps parameters."""
    names = leaf_names(run)
    places = {place: steps for place, steps in _by_place(run).items() if place[0] != "grad"}
    return {place: {names[leaf] for step in steps for leaf, _ in step.consumed} for place, steps in places.items()}


def _compare_runs(before: Run, after: Run, meant: Candidate, elsewhere: Trained) -> Verdict:
    was = dict(meant.respelled)
    old, new = _by_place(before), _by_place(after, was)
    if _numbers(old) != _numbers(new):
        old, new = _by_place(before, shortened=True), _by_place(after, was, shortened=True)
    if meant.begins:
        new = {place: _by_known_calls(steps, old.get(place, steps)) for place, steps in new.items()}
    numbers = _numbers(new)
    if meant.adds:  # what got no gradient may be stepped by it from now on
        numbers = {place: number for place, number in numbers.items() if place in old}
    if _numbers(old) != numbers:
        return Verdict(False, False, "another number of parameter steps")
    equal = True
    comparison = _Comparison(before, after, meant)
    for place, steps in old.items():
        previous: Step | None = None
        if len(steps) != len(new.get(place, ())):
            continue  # gradient is looked at more or less often
        if meant.begins and place[0] == "grad" and not all(map(_had_any, steps)):
            continue  # where it was asked for, there was none
        for step, other in zip(steps, new[place], strict=True):
            verdict = comparison.of(step, other, None if meant.cuts else previous, new[place], elsewhere.get(place, ()))
            if not verdict.kept:
                return verdict
            equal = equal and verdict.equal
            previous = step
    return Verdict(True, equal)


def _by_known_calls(steps: list[Step], known: list[Step]) -> list[Step]:
    """The steps that are led to as known ones are: what was given no gradient by another call was no step by hand."""
    if len(steps) == len(known):
        return steps
    calls = {_calls_of(step) for step in known}
    return [step for step in steps if _calls_of(step) in calls]


def _calls_of(step: Step) -> tuple[str, ...]:
    """The simple statements that were running, outermost first: an edit may put a context around them."""
    return tuple(place_text(statement) for statement, _ in step.trail if not hasattr(statement, "body"))


def _numbers(places: dict[tuple[str, str], list[Step]]) -> dict[tuple[str, str], int]:
    """How often each place changes parameters; how often gradient is only looked at is free."""
    return {k: len(v) for k, v in places.items() if k[0] != "grad"}


def _by_place(
    run: Run, was: Mapping[str, str] = NOTHING, *, shortened: bool = False
) -> dict[tuple[str, str], list[Step]]:
    """The steps by their places; `shortened`: without the passes that a loop may be spared which runs once more.

    A place has the text that it `was`.
    """
    most = _most_passes(run) if shortened else {}
    places: dict[tuple[str, str], list[Step]] = {}
    for step in run.machine.steps:
        if any(p.index >= most.get(p.activation, math.inf) for p in step.loops):
            continue
        if step.what == "update" and step.by_hand:
            continue  # what it is changed by was consumed when `torch.autograd.grad` gave it
        if step.what != "grad" or step.consumed or isinstance(step.site.node, ast.Call):
            text = place_text(step.site.node)
            places.setdefault((step.what, was.get(text, text)), []).append(step)
    return places


def _most_passes(run: Run) -> dict[Activation, int]:
    """Of the loops that begin anew in a pass of another one, how many passes each has of which all are not spared."""
    seen: Counter[ast.AST | None] = Counter()
    most: dict[Activation, int] = {}
    for activation in run.machine.activations:
        if seen[activation.node]:
            most[activation] = passes_after(seen[activation.node])
        seen[activation.node] += 1
    return most


class _Comparison:
    """Two runs, step by step."""

    def __init__(self, before: Run, after: Run, meant: Candidate) -> None:
        self._meant = meant
        self._old, self._new = old, new = leaf_names(before), leaf_names(after)
        self._likeness = Likeness(lambda n: old.get(n) or name_of(n), lambda n: new.get(n) or name_of(n))
        self._before = before
        self._ways = Ways()
        # The losses by which they can be told apart: others are added up, or differentiated under another name.
        self._losses = _calls(before.machine.differentiations) & _calls(after.machine.differentiations)

    @cached_property
    def _uses(self) -> dict[tuple[ast.AST, Node], list[Loops]]:
        """In which passes each place has computed with each leaf in the first program."""
        found: dict[tuple[ast.AST, Node], list[Loops]] = {}
        for node in self._before.machine.nodes:
            for parent in node.parents:
                if parent.leaf:
                    found.setdefault((node.site.node, parent), []).append(node.loops)
        return found

    def of(
        self, step: Step, other: Step, previous: Step | None, beside: list[Step], elsewhere: Collection[LeafName]
    ) -> Verdict:
        """Compare what two steps consume: `previous` came before the first, `beside` are all of the second's place.

        What is trained `elsewhere` may be lost.
        """
        if self._consume_alike(step, other):
            return Verdict(True, True)
        begins = self._meant.begins and not _had_any(step)
        adds = begins if self._meant.begins else self._meant.adds
        since = previous.clock if previous is not None else 0
        new = {self._new[leaf]: ds for leaf, ds in other.consumed if leaf in self._new}
        leaves = {self._new[leaf]: leaf for leaf, _ in other.consumed if leaf in self._new}
        equal = True
        seen = set()
        for leaf, differentiations in step.consumed:
            name = self._old[leaf]
            seen.add(name)
            reached = [(d, self._ways.between(d, leaf)) for d in differentiations]
            recent = [
                (d, {n for n in nodes if (n.number > since or within(n.loops, step.loops)) and _is_consumed(n, d)})
                for d, nodes in reached
            ]
            due = [(d, self._ways.between(d, leaf, nodes)) for d, nodes in recent]
            must = count(set().union(*(nodes for _, nodes in due)))
            if name not in new:
                name = self._made_anew(leaf, step, new)
                seen.add(name)
            if name not in new and name in elsewhere:
                equal = False
                continue
            if name not in new:
                if must or not self._is_trained(name, beside) or not self._is_start(leaf, differentiations):
                    return Verdict(False, False, "a parameter gets no gradient any more")
                equal = False
                continue
            others = _calls(new[name]) & self._losses
            wanted = _calls(d for d, nodes in due if count(nodes) and not self._meant.cuts) & self._losses
            more = set() if adds else others - _calls(differentiations)
            if not self._meant.merges and (wanted - others or more):
                return Verdict(False, False, "a step consumes the gradient of another loss")
            again = set().union(*(self._ways.between(d, leaves[name]) for d in new[name]))
            total = count(set().union(*(nodes for _, nodes in reached)))
            has = self._as_it_was(count(again))
            if must - has and not self._meant.cuts:
                return Verdict(False, False, f"a loss does not reach a parameter any more: {must - has}")
            ways_of_each = [self._ways.paths([d], leaves[name]) for d in new[name]]
            ways, most = sum(ways_of_each), max(ways_of_each, default=0)
            if not self._meant.cuts and not self._meant.merges and ways_of_pass(due, leaf) > most:
                return Verdict(False, False, "a loss does not reach a parameter through all of its own pass any more")
            each: Reached = Counter()
            for _, nodes in reached:
                each.update(count(nodes))
            if has - (total | each) and not adds:
                sure = self._as_it_was(self._ways.surely(new[name], leaves[name]))
                if sure - (total | each) and self._ways.unfolded(differentiations, leaf) != self._as_it_was(
                    self._ways.unfolded(new[name], leaves[name])
                ):
                    return Verdict(False, False, "a step consumes gradient that it did not consume before")
            if begins:
                continue
            before = self._ways.paths(differentiations, leaf)
            is_less = bool(set(total) - set(has)) or before > ways
            if is_less or (not adds and (set(has) - set(total) or before < ways)):
                equal = False
        if set(new) - seen and step.what != "grad" and not adds:
            return Verdict(False, False, "a step consumes gradient that it did not consume before")
        return Verdict(True, equal)

    def _consume_alike(self, step: Step, other: Step) -> bool:
        """Whether they consume the same gradient, told by its graphs being the same: most edits change few of them."""
        if len(step.consumed) != len(other.consumed):
            return False
        for (leaf, ds), (other_leaf, other_ds) in zip(step.consumed, other.consumed, strict=True):
            if len(ds) != len(other_ds) or not self._likeness.alike((leaf,), (other_leaf,)):
                return False
            pairs = list(zip(ds, other_ds, strict=True))
            if not all(self._likeness.alike(d.roots, o.roots) for d, o in pairs):
                return False
            if any(_calls([d]) != _calls([o]) and _calls([d, o]) <= self._losses for d, o in pairs):
                return False
        return True

    def _as_it_was(self, reached: Reached) -> Reached:
        """What is reached, in the words of the first program."""
        if not self._meant.respelled:
            return reached
        words = {call_of(text): call_of(old) for text, old in self._meant.respelled}
        found: Reached = Counter()
        for (op, called), number in reached.items():
            found[op, words.get(called, called)] += number
        return found

    @cached_property
    def _stepped(self) -> set[Node]:
        """The leaves of the first program that are changed by their gradient."""
        return self._before.trained

    def _made_anew(self, leaf: Node, step: Step, new: Collection[LeafName]) -> LeafName:
        """The name of what stands for a leaf that is only differentiated for, if its place makes one in each pass now.

        So it is with the points at which a network is differentiated.
        """
        name = self._old[leaf]
        if step.what != "grad" or leaf in self._stepped:
            return name
        before = {self._old[other] for other, _ in step.consumed}
        made = [other for other in new if other[0] == name[0] and other not in before]
        return made[0] if len(made) == 1 else name

    def _is_trained(self, name: LeafName, steps: list[Step]) -> bool:
        return any(self._new.get(leaf) == name for step in steps for leaf, _ in step.consumed)

    def _is_start(self, leaf: Node, differentiations: Iterable[Differentiation]) -> bool:
        """Whether only what a state begins with is computed of a leaf: the first pass trains it, and later ones raise.

        That it begins anew in every epoch is seen by what is computed again and again; else it must be meant.
        """
        if not all(d.raised for d in differentiations):
            return False
        readers = ((n, d) for d in differentiations for n in self._ways.between(d, leaf) if leaf in n.parents)
        return self._meant.starts or all(self._begins_anew(n, leaf, d) for n, d in readers)

    def _begins_anew(self, reader: Node, leaf: Node, d: Differentiation) -> bool:
        """Whether a reader of a leaf computes with it in other passes, too, of the loops that it shares with `d`."""
        shared = sum(a is b for a, b in zip(reader.loops, d.loops, strict=False))
        return len({loops[:shared] for loops in self._uses[reader.site.node, leaf]}) > 1


def _had_any(step: Step) -> bool:
    """Whether there is gradient that a step consumes: none comes of what has no history."""
    return any(d.roots for _, differentiations in step.consumed for d in differentiations)


def _calls(differentiations: Iterable[Differentiation]) -> set[str]:
    return {stable(d.call) for d in differentiations}


def _is_consumed(node: Node, d: Differentiation) -> bool:
    """Whether gradient ever came from a node: not where the differentiation raises, and an earlier pass has made it.

    Of one segment after the other, all are consumed by one step, but each is differentiated by itself.
    """
    parted = diverge(node.loops, d.loops)
    return not d.raised or parted is None or parted[0].index >= parted[1].index
