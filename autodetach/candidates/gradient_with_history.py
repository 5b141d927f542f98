"""What is differentiated was computed from a gradient that has no history: it is taken with `create_graph=True`."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator

from autodetach.machine.events import HistoryLost
from autodetach.machine.run import Run
from autodetach.machine.second_derivatives import bent_gradients
from autodetach.suspect import Candidate
from autodetach.view.program import Program

FOR_OTHERS = "the gradient is taken for others, too, which may mean it as a value"
WITH_HISTORY = "the gradient has a history then, which all that reads it has to bear, and others may get gradient by it"
CREATE_AT = 4
"""Where `create_graph` stands among the arguments of `torch.autograd.grad`."""


def gradient_with_history(program: Program, fact: HistoryLost) -> Iterator[Candidate]:
    """Create the graph of the gradient: of a linear function, there is none. Where a call has an answer, it stays."""
    from autodetach.codemods.set_keyword import SetKeyword

    calls = list(dict.fromkeys(one.place for one in fact.lost if isinstance(one.place, ast.Call)))
    if any(len(c.args) > CREATE_AT or any(k.arg in ("create_graph", None) for k in c.keywords) for c in calls):
        return
    if not any(_has_history(run, calls) for run in program.runs):
        return
    is_apart = any(program.scope(call) is not program.scope(fact.site.node) for call in calls)
    doubt = FOR_OTHERS if is_apart and _is_for_others(program, calls) else WITH_HISTORY
    codemods = tuple(SetKeyword(call, "create_graph", "True") for call in calls)
    yield Candidate("differentiate through the gradient, too", codemods, doubt, adds=True)


def _has_history(run: Run, calls: Collection[ast.Call]) -> bool:
    """Whether a gradient of what is asked for, as far as that is known, depends on what requires grad."""
    for d in run.machine.differentiations:
        if d.call in calls and d.roots:
            asked = run.asked_by(d)
            if not asked or not asked.isdisjoint(bent_gradients(d)):
                return True
    return False


def _is_for_others(program: Program, calls: Collection[ast.Call]) -> bool:
    """Whether the calls stand in what is called from several places, that which raises by itself not among them."""
    ways = {
        (d.call, tuple(statement for statement, _ in d.trail))
        for run in program.runs
        for d in run.machine.differentiations
        if d.call in calls and d.roots
    }
    return len(ways) > len(calls)
