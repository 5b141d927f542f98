"""Steps of an optimizer that never do anything: of its parameters, a loss has only what was made without history.

So it is where an encoder has an optimizer of its own, and its features are computed where gradients are off.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.activations import within
from autodetach.machine.always_cut import always_cuts, is_made_ready
from autodetach.machine.events import HistoryLost, IdleStep, Step
from autodetach.machine.graph import Differentiation, Lost, Node
from autodetach.machine.own_changes import may_change_parameters
from autodetach.machine.program_values import Frame
from autodetach.machine.run import Analysis, Run
from autodetach.machine.untrained import is_surely_trained, leaves_of
from autodetach.machine.values import joined


def idle_steps(analysis: Analysis) -> Iterator[tuple[Step, HistoryLost]]:
    """The steps whose parameters have no gradient on any path, each with what is differentiated of them."""
    run = analysis.runs[0]
    facts = [fact.step for fact in run.machine.facts if isinstance(fact, IdleStep)]
    steps = [step for step in facts if _is_driven(step) and is_made_ready(analysis.tree, step.site.node)]
    if not steps or not leaves_nothing_open(analysis):
        return
    told: set[ast.AST] = set()
    for step in steps:
        if step.site.node not in told and all(_is_idle(one, step) for one in analysis.runs):
            before = (d for d in reversed(run.machine.differentiations) if d.number < step.clock and d.kind != "grad")
            d = next((d for d in before if within(step.loops, d.loops)), None)
            node, lost = (None, ()) if d is None else _values_of(run, d, set(step.idle))
            if d is not None and lost:
                told.add(step.site.node)
                yield step, HistoryLost(d.site, lost, d.trail, False, (), node)


def leaves_nothing_open(analysis: Analysis) -> bool:
    """Whether a program was seen wholly, decides nowhere what it trains, and trains nothing by hand."""
    if not all(one.whole and one.stop is None and _is_known(one) for one in analysis.runs):
        return False
    executed = {n for one in analysis.runs for n in one.machine.executed}
    is_decided = always_cuts(analysis.tree, executed, analysis.runs[0].started)
    return is_decided and not may_change_parameters(analysis.tree)


def _is_driven(step: Step) -> bool:
    """Whether the program itself comes there: what only others call, they may differentiate as well."""
    frame = step.trail[0][1] if step.trail else None
    is_program = isinstance(frame, Frame) and frame.function is None
    return is_program and all(is_surely_trained(leaf) for leaf in step.idle)


def _is_known(run: Run) -> bool:
    """Whether all that is differentiated on a path is in view."""
    m = run.machine
    return not m.open_optimizers and not any(n.assumed or n.weak for d in m.differentiations for n in d.walked)


def _is_idle(run: Run, step: Step) -> bool:
    """Whether a path has no gradient for the parameters either, nor for what is made in the same places."""
    places = {leaf.site.node for leaf in step.idle}
    alike = (other for other in run.machine.steps if other.site.node is step.site.node)
    walked = (n for d in run.machine.differentiations for n in d.walked if n.leaf)
    if any(t.storage.version or t.storage.uncounted for t in run.machine.leaf_tensors if t.leaf_node in step.idle):
        return False  # the program changes them itself
    return not any(other.consumed for other in alike) and all(leaf.site.node not in places for leaf in walked)


def _values_of(run: Run, d: Differentiation, idle: set[Node]) -> tuple[Node | None, tuple[Lost, ...]]:
    """What was made without history of some parameters in the same pass, and what is walked that stands beside it.

    What is made before the loop, or handed on by another pass, may be meant to be there by its value.
    """
    node, parts = None, list[tuple[Lost, ...]]()
    for at in d.walked:
        lost = run.machine.cut_off.get(at, ())
        fresh = (one for one in lost if one.node.leaf or within(one.node.loops, d.loops))
        if found := tuple(one for one in fresh if not idle.isdisjoint(leaves_of(one.node))):
            node = at
            parts.append(found)
    return node, joined(*parts)
