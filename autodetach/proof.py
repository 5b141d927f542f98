"""Whether an edited program has no new fault and still trains the same parameters from the same losses."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from autodetach.machine.events import Step
from autodetach.machine.graph import Differentiation, Node, between, diverge, within
from autodetach.machine.likeness import Likeness
from autodetach.machine.run import Analysis, Run
from autodetach.view.program import stable

Reached = Counter[tuple[str, str]]

TRANSPARENT = frozenset({"add", "sum", "stack", "part", "leaf", "clone"})
"""Operations that only add up: a repair may bring them in or take them away."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`kept`: gradient reach is as it must be. `equal`: not even gradient of earlier passes was cut off."""

    kept: bool
    equal: bool
    reason: str = ""


def compare(before: Run, after: Run, *, cuts: bool = False, gathers: bool = False) -> Verdict:
    """Compare what every parameter step consumes on one path, or with `gathers` what the steps of a place do."""
    if not after.finished or after.stopped_by != before.stopped_by:
        if before.stopped_by and after.finished:
            return Verdict(True, True)  # the first program ended early on this path: the second may go on
        return Verdict(False, False, "the edited program ends differently")
    return _compare_places(before, after) if gathers else _compare_runs(before, after, cuts)


def _compare_places(before: Run, after: Run) -> Verdict:
    """Whether each place that steps parameters still does, and what it trains it still trains."""
    old, new = _trained(before), _trained(after)
    if old.keys() != new.keys():
        return Verdict(False, False, "another place steps parameters")
    if any(leaves - new[place] for place, leaves in old.items()):
        return Verdict(False, False, "a parameter gets no gradient any more")
    return Verdict(True, False)


def _trained(run: Run) -> dict[tuple[str, str], set[tuple[str, int]]]:
    names = _leaf_names(run)
    places = {place: steps for place, steps in _by_place(run).items() if place[0] != "grad"}
    return {place: {names[leaf] for step in steps for leaf, _ in step.consumed} for place, steps in places.items()}


def _compare_runs(before: Run, after: Run, cuts: bool) -> Verdict:
    old, new = _by_place(before), _by_place(after)
    if _numbers(old) != _numbers(new):
        return Verdict(False, False, "another number of parameter steps")
    equal = True
    old_names, new_names = _leaf_names(before), _leaf_names(after)
    likeness = Likeness(lambda n: old_names.get(n) or _name(n), lambda n: new_names.get(n) or _name(n))
    for place, steps in old.items():
        previous: Step | None = None
        if len(steps) != len(new.get(place, ())):
            continue  # gradient is looked at more or less often
        for step, other in zip(steps, new[place], strict=True):
            verdict = Verdict(True, True)
            if not _consume_alike(step, other, likeness):
                verdict = _compare_steps(step, other, None if cuts else previous, old_names, new_names, cuts)
            if not verdict.kept:
                return verdict
            equal = equal and verdict.equal
            previous = step
    return Verdict(True, equal)


def _numbers(places: dict[tuple[str, str], list[Step]]) -> dict[tuple[str, str], int]:
    """How often each place changes parameters; how often gradient is only looked at is free."""
    return {k: len(v) for k, v in places.items() if k[0] != "grad"}


def _by_place(run: Run) -> dict[tuple[str, str], list[Step]]:
    places: dict[tuple[str, str], list[Step]] = {}
    for step in run.machine.steps:
        if step.what != "grad" or step.consumed or isinstance(step.site.node, ast.Call):
            places.setdefault((step.what, _text(step.site.node)), []).append(step)
    return places


def _leaf_names(run: Run) -> dict[Node, tuple[str, int]]:
    """Leaves by the place that makes them and their number there: the same in both programs."""
    counts: Counter[str] = Counter()
    names: dict[Node, tuple[str, int]] = {}
    for node in run.machine.nodes:
        if node.leaf:
            place = _text(node.site.node)
            names[node] = (place, counts[place])
            counts[place] += 1
    return names


def _consume_alike(step: Step, other: Step, likeness: Likeness) -> bool:
    """Whether two steps consume the same gradient, told by its graphs being the same: most edits change few of them."""
    if len(step.consumed) != len(other.consumed):
        return False
    for (leaf, ds), (other_leaf, other_ds) in zip(step.consumed, other.consumed, strict=True):
        if len(ds) != len(other_ds) or not likeness.alike((leaf,), (other_leaf,)):
            return False
        if not all(likeness.alike(d.roots, o.roots) for d, o in zip(ds, other_ds, strict=True)):
            return False
    return True


def _compare_steps(
    step: Step,
    other: Step,
    previous: Step | None,
    old_names: dict[Node, tuple[str, int]],
    new_names: dict[Node, tuple[str, int]],
    cuts: bool,
) -> Verdict:
    since = previous.clock if previous is not None else 0
    new = {new_names[leaf]: ds for leaf, ds in other.consumed if leaf in new_names}
    leaves = {new_names[leaf]: leaf for leaf, _ in other.consumed if leaf in new_names}
    equal = True
    seen = set()
    for leaf, differentiations in step.consumed:
        name = old_names[leaf]
        seen.add(name)
        if name not in new:
            return Verdict(False, False, "a parameter gets no gradient any more")
        reached = [(d, between(d.roots, leaf)) for d in differentiations]
        again = between([r for d in new[name] for r in d.roots], leaves[name])
        recent = [
            (d, {n for n in nodes if (n.number > since or within(n.loops, step.loops)) and _is_consumed(n, d)})
            for d, nodes in reached
        ]
        total = _count(set().union(*(nodes for _, nodes in reached)))
        must = _count(set().union(*(between(d.roots, leaf, nodes) for d, nodes in recent)))
        has = _count(again)
        if must - has and not cuts:
            return Verdict(False, False, f"a loss does not reach a parameter any more: {must - has}")
        each: Reached = Counter()
        for _, nodes in reached:
            each.update(_count(nodes))
        if has - (total | each) and _unfolded(differentiations, leaf) != _unfolded(new[name], leaves[name]):
            return Verdict(False, False, "a step consumes gradient that it did not consume before")
        if set(total) != set(has) or _paths(differentiations, leaf) != _paths(new[name], leaves[name]):
            equal = False
    if set(new) - seen and step.what != "grad":
        return Verdict(False, False, "a step consumes gradient that it did not consume before")
    return Verdict(True, equal)


def _is_consumed(node: Node, d: Differentiation) -> bool:
    """Whether gradient ever came from a node: not where the differentiation raises, and an earlier pass has made it.

    Of one segment after the other, all are consumed by one step, but each is differentiated by itself.
    """
    parted = diverge(node.loops, d.loops)
    return not d.raised or parted is None or parted[0].index >= parted[1].index


def _paths(differentiations: Iterable[Differentiation], leaf: Node) -> int:
    """The number of ways from the roots down to a leaf: adding up losses keeps it, counting one twice does not."""
    total = 0
    for d in differentiations:
        ways: dict[Node, int] = {leaf: 1}
        for node in sorted(between(d.roots, leaf), key=lambda n: n.number):
            if node is not leaf:
                ways[node] = sum(ways.get(p, 0) for p in node.parents)
        total += sum(ways.get(root, 0) for root in d.roots)
    return total


def _unfolded(differentiations: Iterable[Differentiation], leaf: Node) -> Reached:
    """How many ways from the roots down to a leaf go through each operation.

    The gradient is the sum over these ways (the chain rule), so that it stays the same where a value that several
    others share is computed anew for each of them.
    """
    found: Reached = Counter()
    for d in differentiations:
        nodes = between(d.roots, leaf)
        ordered = sorted(nodes, key=lambda n: n.number)
        below: Counter[Node] = Counter({leaf: 1})
        above: Counter[Node] = Counter(d.roots)
        for node in ordered:
            if node is not leaf:
                below[node] = sum(below[p] for p in node.parents)
        for node in reversed(ordered):
            for parent in node.parents:
                above[parent] += above[node]
            if node.op not in TRANSPARENT:
                found[_name(node)] += above[node] * below[node]
    return found


def _count(nodes: Iterable[Node]) -> Reached:
    return Counter(_name(n) for n in nodes if n.op not in TRANSPARENT)


def _name(node: Node) -> tuple[str, str]:
    place = node.site.node
    return node.op, _text(place.func) if isinstance(place, ast.Call) else ""


def _text(node: ast.AST) -> str:
    if isinstance(node, (ast.expr, ast.stmt)):
        return stable(node)
    return type(node).__name__


@dataclass(frozen=True, slots=True)
class Faults:
    """What a program does that Python or PyTorch refuses, and the numbers that reach code that is not in view."""

    kinds: tuple[set[tuple[str, str]], ...]
    escaping: set[str]


def known_faults(analysis: Analysis) -> Faults:
    """All of them, of all paths."""
    return Faults(tuple(kind(analysis) for kind in (_errors, _refused)), _escaping(analysis))


def new_faults(before: Faults, after: Analysis, *, numbers: bool) -> str | None:
    """What the edited program does that Python or PyTorch refuses and the first one did not do, or None.

    With `numbers`, also whether a number that the edit made reaches code that is not in view, which may want a tensor.
    """
    for kind, known in zip((_errors, _refused), before.kinds, strict=True):
        more = kind(after) - known
        if more:
            return f"another error comes: {sorted(more)[0]}"
    if numbers and _escaping(after) - before.escaping:
        return "the number reaches code that is not in view"
    return None


def _errors(analysis: Analysis) -> set[tuple[str, str]]:
    """What PyTorch would raise, by its kind and the place of the differentiation."""
    found: set[tuple[str, str]] = set()
    for run in analysis.distinct:
        found |= {("second walk", _text(e.second.call.func)) for e in run.machine.second_walks}
        found |= {("changed in place", _text(e.by.call.func)) for e in run.machine.stale}
    return found


def _refused(analysis: Analysis) -> set[tuple[str, str]]:
    return {(f.kind, f.text) for run in analysis.distinct for f in run.machine.type_faults}


def _escaping(analysis: Analysis) -> set[str]:
    tags = (tag for run in analysis.distinct for escape in run.machine.escapes for tag in escape.tags)
    return {_text(tag) for tag in tags if isinstance(tag, ast.AST)}
