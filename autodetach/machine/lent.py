"""What code out of view is given that keeps nothing, as far as its name tells: `env.step(action)`, `meter.log(loss)`.

A name tells it as a rule, and is no proof: a simulator sums up a loss of the actions that it steps with.
"""

from __future__ import annotations

from collections.abc import Iterable

from autodetach.machine.core import Core
from autodetach.machine.held import graph_in
from autodetach.machine.restraints import GraphLent
from autodetach.machine.values import Value


def note_lent(m: Core, values: Iterable[Value]) -> None:
    """Note what has history among some values."""
    nodes = dict.fromkeys(t.node for v in values for t in graph_in(v) if t.node is not None and not t.node.leaf)
    if nodes:
        m.restraints.append(GraphLent(tuple(nodes)))
