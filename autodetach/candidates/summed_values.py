"""`sum(map(step, data))` adds what is made for it one by one: the values of that go without their graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.growth import Growth
from autodetach.machine.spelling import last_word, spelled
from autodetach.suspect import Candidate
from autodetach.view.program import text

DOUBT = "some of what is summed may be no tensor"
SUMMED_BY = {"accumulate": 0, "reduce": 1}
"""Which of their arguments functions of `itertools` and `functools` go over."""


def adding(growth: Growth) -> tuple[ast.Call, int] | None:
    """The call of `sum`, `reduce` or `accumulate` that makes a sum, and which of its arguments it adds up."""
    made, loop = growth.node.site.node, growth.activation.node
    if isinstance(made, ast.Call) and spelled(made.func) == "sum":
        return made, 0
    at = SUMMED_BY.get(last_word(loop.func)) if isinstance(loop, ast.Call) else None
    return (loop, at) if isinstance(loop, ast.Call) and at is not None else None


def values_summed(growth: Growth) -> Iterator[Candidate]:
    """Sum the values of an iterator without their graph, where nothing else is asked of it."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    call, at = adding(growth) or (None, 0)
    if call is None or len(call.args) <= at or any(keyword.arg is None for keyword in call.keywords):
        return
    summed = call.args[at]
    if isinstance(summed, (ast.Call, ast.Name)):
        what = f"sum the values of `{text(summed)}` without their graph"
        made = "t.detach() for t in {}" if len(call.args) + len(call.keywords) == 1 else "(t.detach() for t in {})"
        yield Candidate(what, (ReplaceExpression(summed, made),), DOUBT)
