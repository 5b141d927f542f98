"""Whether what grows on one path begins anew on another, where a test of its loop leads now and then.

`if i / 4 == i // 4:` is true in the first pass, where the counter is known. That it is again no path shows in so few
passes as are executed: it takes one more for it to be false, and one for what comes behind it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.activations import Pass, pass_of
from autodetach.machine.events import Stored
from autodetach.machine.graph import Node, ancestors
from autodetach.machine.growing_stores import stored_alike
from autodetach.machine.growth import Growth
from autodetach.machine.interpreter import Machine
from autodetach.machine.oracle import TestKey
from autodetach.machine.passes import MAX_PASSES
from autodetach.machine.run import Run
from autodetach.machine.running import run_again
from autodetach.machine.walked_stores import Walks, is_differentiated_later
from autodetach.once import once
from autodetach.view.program import Program
from autodetach.view.turned_away import taken_at_first


def begins_anew(program: Program, growth: Growth) -> bool:
    """Whether the chain of a growth is cut in some passes: `if done: state = begin()` bounds it, however seldom.

    Only tests that are made again and again, with what changes meanwhile, lead there now and then; an option does not.
    """
    grown, loop = (growth.link or growth.node).site.node, growth.activation.node
    if _is_cut_at_first(growth, grown):
        return True
    return any(_is_cut(run, grown, loop) for run in _beside(program, growth.run, loop))


def is_differentiated_in_time(program: Program, growth: Growth) -> bool:
    """Whether what a container keeps is differentiated after the pass that has stored it, where a loop goes on longer.

    It is differentiated on some path in any case, by the pass that has stored it.
    """
    stored = growth.stored
    if growth.dead or stored is None or not any(_walks(run, stored) for run in program.runs):
        return False
    if _is_walked_at_first(growth.run, growth, stored):
        return True
    return any(_is_walked_later(run, stored) for run in _longer(program, growth.run, growth.activation.node))


def _is_cut_at_first(growth: Growth, place: ast.AST) -> bool:
    """Whether what a pass has computed at a place ends with it, where that has taken a branch that comes again."""
    run, activation = growth.run, growth.activation
    turned = taken_at_first(run, activation, growth.node.loops)
    if not turned:
        return False
    made: dict[int, list[Node]] = {}
    for node in run.machine.nodes:
        if node.site.node is place and (now := pass_of(node.loops, activation)) is not None:
            made.setdefault(now.index, []).append(node)
    return any(
        index in made and index + 1 in made and set(made[index]).isdisjoint(ancestors(made[index + 1]))
        for index in turned
    )


def _is_walked_at_first(run: Run, growth: Growth, stored: Stored) -> bool:
    """Whether what a pass has stored is differentiated by a branch of it that comes again, and is not by others."""
    turned = taken_at_first(run, growth.activation, growth.node.loops)
    walked = {
        now.index
        for e in run.machine.stored
        if e.element is stored.element and e.taken is not None and e.node.walked_by
        and (now := pass_of(e.loops, growth.activation)) is not None
    }  # fmt: skip
    return bool(walked) and walked <= turned


def _walks(run: Run, stored: Stored) -> bool:
    return any(e.element is stored.element and e.taken is not None and e.node.walked_by for e in run.machine.stored)


def _is_walked_later(run: Run, stored: Stored) -> bool:
    groups = (events for events in stored_alike(run) if events[0].element is stored.element)
    return any(is_differentiated_later(run, events, Walks()) for events in groups)


def _beside(program: Program, run: Run, loop: ast.AST | None) -> Iterator[Run]:
    """The paths that differ from one only in tests that change from pass to pass, itself included."""
    flips = set(run.policy.flips)
    for other in program.analysis.distinct:
        differing = {key for key, _ in flips.symmetric_difference(other.policy.flips)}
        if all(_varies(run, key) and _varies(other, key) for key in differing):
            yield other
    for key, how in run.policy.flips:
        if how != "once" and _varies(run, key):
            yield _once_by_default(program, run, key)
    yield from _longer(program, run, loop)


def _longer(program: Program, run: Run, loop: ast.AST | None) -> Iterator[Run]:
    """The paths on which a test goes both ways behind the first pass, in which its outcome may be known."""
    for key, decision in run.machine.oracle.decisions.items():
        if (decision.counts or decision.late) and _varies(run, key):
            yield from (_with_more_passes(program, run, key, how, loop) for how in ("later", "other", "after"))


@once
def _with_more_passes(program: Program, run: Run, key: TestKey, how: str, loop: ast.AST | None) -> Run:
    """The path on which a test goes another way, with a few more passes of a loop."""

    def lengthen(m: Machine, current: Pass) -> None:
        if current.activation.node is loop:
            m.await_passes(current.activation, MAX_PASSES + 2)

    others = tuple(flip for flip in run.policy.flips if flip[0] != key)
    return run_again(program.analysis, run.policy._replace(flips=(*others, (key, how))), lengthen)


def _varies(run: Run, key: TestKey) -> bool:
    return run.machine.oracle.visits.get(key, 0) > 1


def _once_by_default(program: Program, run: Run, key: TestKey) -> Run:
    """The path on which a test that was turned goes its usual way in the second pass, and in no other."""
    flips = tuple((test, "once" if test == key else how) for test, how in run.policy.flips)
    return run_again(program.analysis, run.policy._replace(flips=flips))


def _is_cut(run: Run, place: ast.AST, loop: ast.AST | None) -> bool:
    """Whether a pass computes with what an earlier one has computed at a place, and the last pass does not."""
    if not run.finished:
        return False
    made = [node for node in run.machine.nodes if node.site.node is place]
    for crossing in run.machine.crossings:
        activation = crossing.activation
        if crossing.child.site.node is not place or activation.node is not loop:
            continue
        passes = [(node, now) for node in made if (now := pass_of(node.loops, activation)) is not None]
        linked, last = pass_of(crossing.child.loops, activation), max((now.index for _, now in passes), default=0)
        if linked is None or last <= linked.index:
            continue
        if crossing.parent not in ancestors(node for node, now in passes if now.index == last):
            return True
    return False
