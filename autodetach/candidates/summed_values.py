"""`sum(map(step, data))` adds what is made for it one by one: the values of that go without their graph."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from autodetach.machine.growth import Growth
from autodetach.machine.spelling import spelled
from autodetach.suspect import Candidate
from autodetach.view.program import text

DOUBT = "some of what is summed may be no tensor"


def values_summed(growth: Growth) -> Iterator[Candidate]:
    """Sum the values of an iterator without their graph, where nothing else is asked of it."""
    from autodetach.codemods.replace_expression import ReplaceExpression

    call = growth.node.site.node
    if not isinstance(call, ast.Call) or spelled(call.func) != "sum" or len(call.args) != 1 or call.keywords:
        return
    (summed,) = call.args
    if isinstance(summed, (ast.Call, ast.Name)):
        what = f"sum the values of `{text(summed)}` without their graph"
        yield Candidate(what, (ReplaceExpression(summed, "t.detach() for t in {}"),), DOUBT)
