"""All rules. A new rule is a file beside this one and a line in `RULES`.

`autodetach rule`, the table in the README and the tests pick it up from there. Which repairs were tried for the
findings of a file, and what came of each, is told by `python -m tests.refusals FILE`.
"""

from __future__ import annotations

from autodetach.rules import (
    accumulated_loss,
    attached_fake,
    carried_state,
    copied_history,
    data_index,
    detached_view,
    discarded_detach,
    graph_outside_loop,
    leaf_in_place,
    lost_history,
    optimized_non_leaf,
    rebound_leaf,
    retain_variables,
    shared_graph,
    step_between,
    stored_history,
    superfluous_retain,
)
from autodetach.suspect import Rule

# Where several rules see one error, the first of this order with a safe fix reports it.
RULES: tuple[Rule, ...] = (
    accumulated_loss.RULE,
    stored_history.RULE,
    superfluous_retain.RULE,
    copied_history.RULE,
    graph_outside_loop.RULE,
    carried_state.RULE,
    rebound_leaf.RULE,
    leaf_in_place.RULE,
    optimized_non_leaf.RULE,
    attached_fake.RULE,
    shared_graph.RULE,
    step_between.RULE,
    data_index.RULE,
    discarded_detach.RULE,
    retain_variables.RULE,
    detached_view.RULE,
    lost_history.RULE,
)

__all__ = ["RULES", "Rule"]
