"""What an object differentiates when it goes: `__del__` of a class in view, which Python calls at a time of its own."""

from __future__ import annotations

from autodetach.machine.core import Core
from autodetach.machine.events import GraphRead
from autodetach.machine.graph import Site
from autodetach.machine.held import graph_kept
from autodetach.machine.implicit_calls import own_method
from autodetach.machine.program_values import Function, Instance
from autodetach.machine.values import Value
from autodetach.machine.walking import differentiates


def note_kept(m: Core, this: Instance, value: Value, site: Site) -> None:
    """Note what an object keeps that may walk its graph when it goes, as if somebody had the nodes of that."""
    last = own_method(this, "__del__")
    if last is None or not isinstance(last.function, Function) or not differentiates(last.function.node):
        return
    m.facts += (GraphRead(t, t.node, site, m.tick(), False) for t in graph_kept(value))
