"""Differentiations on paths for which the budget was too small."""

from __future__ import annotations

import ast

from autodetach.machine.run import Analysis
from autodetach.machine.surroundings import around_line, go_one_way
from autodetach.machine.walking import backward_calls

LEFT_OUT = "the function may differentiate it on paths that were left out, since all are more than the budget allows"


def is_left_out(analysis: Analysis, place: ast.AST) -> bool:
    """Whether the function around a place differentiates in a branch that no path has taken."""
    runs = analysis.distinct
    near = around_line(analysis.trees, getattr(place, "lineno", 0))
    if not go_one_way((run.machine.oracle for run in runs), near):
        return False
    executed = {d.call for run in runs for d in run.machine.differentiations}
    return any(call not in executed for node in near.nodes for call in backward_calls(node))
