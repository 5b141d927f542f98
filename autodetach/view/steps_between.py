"""What a program does with gradient between two differentiations: steps, changes by hand, readings, clipping."""

from __future__ import annotations

import ast
from bisect import bisect_left, bisect_right

from autodetach.machine.events import Step
from autodetach.machine.graph import Differentiation
from autodetach.machine.run import Run


def steps_between(run: Run, first: Differentiation, second: Differentiation) -> list[Step]:
    """What takes gradient between two differentiations, in order."""
    steps = run.machine.steps
    return steps[bisect_right(steps, first.number, key=_clock) : bisect_left(steps, second.number, key=_clock)]


def stepped_between(run: Run, first: Differentiation, second: Differentiation) -> bool:
    """Whether parameters are changed between two differentiations."""
    return any(s.consumed and s.what != "grad" for s in steps_between(run, first, second))


def changed_by_hand(run: Run, first: Differentiation, second: Differentiation) -> bool:
    """Whether the program itself, by gradient it has asked for, changes a leaf that two differentiations lead to."""
    changed = {leaf for s in steps_between(run, first, second) if s.by_hand for leaf in s.idle if leaf.leaf}
    return bool(changed) and not changed.intersection(first.walked).isdisjoint(second.walked)


def read_between(run: Run, first: Differentiation, second: Differentiation) -> bool:
    """Whether gradient is looked at or consumed between two differentiations, but for what clips it."""
    clocks = set(run.machine.scaled)
    return any(
        s.consumed and not (s.what == "grad" and s.clock in clocks and isinstance(s.site.node, ast.Call))
        for s in steps_between(run, first, second)
    )


def scaled_between(run: Run, first: Differentiation, second: Differentiation) -> bool:
    """Whether each of two differentiations gives gradient that is clipped, scaled or handed to a hook by itself."""
    return bool(run.machine.hooks) or any(first.number <= clock < second.number for clock in run.machine.scaled)


def cleared_between(run: Run, first: Differentiation, second: Differentiation) -> bool:
    """Whether gradient that the first of two differentiations gives is cleared before the second one."""
    return any(first.number <= clock < second.number and leaf in first.walked for leaf, clock in run.machine.cleared)


def _clock(step: Step) -> int:
    return step.clock
