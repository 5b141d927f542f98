"""What a differentiation walks where history was lost and nothing raises: a graph begun anew, or other terms only."""

from __future__ import annotations

from autodetach.machine.added_values import note_added
from autodetach.machine.core import Core
from autodetach.machine.events import HistoryLost
from autodetach.machine.graph import Differentiation, Lost, Node, ancestors
from autodetach.machine.held import graph_in
from autodetach.machine.values import Value, joined


def note_untrained(m: Core, d: Differentiation, inputs: list[Value] | None) -> None:
    """Note what a differentiation walks in place of the history that was lost: it does not raise, and trains less."""
    if m.added and inputs is None:
        note_added(m, d)
    off = not m.grad_enabled
    leaves, lost = _begun_anew(m, d, inputs) if m.begun else ((), ())
    if leaves:
        m.facts.append(HistoryLost(d.site, lost, tuple(m.trail), off, leaves))
    elif m.beside and inputs is None:
        node, parts = None, list[tuple[Lost, ...]]()
        for node in d.walked:
            if node in m.beside:
                parts.append(m.beside[node])
        lost = joined(*parts)
        if lost and all(one.sure for one in lost):
            m.facts.append(HistoryLost(d.site, lost, tuple(m.trail), off, (), node))


def _begun_anew(
    m: Core, d: Differentiation, inputs: list[Value] | None
) -> tuple[tuple[Node, ...], tuple[Lost, ...]]:
    """The leaves where a graph begins that was to go on, if it has no others, and the history that was lost there.

    Who asks for the gradient of inputs asks for some that this history would have led to.
    """
    reached = set(ancestors(d.roots))
    m.spend(len(reached) // 8)
    leaves = tuple(n for n in reached if n.leaf)
    lost = joined(*(m.begun.get(leaf, ()) for leaf in leaves))
    if not lost or not all(n in m.begun for n in leaves) or any(n.weak or n.assumed for n in reached):
        return (), ()
    if inputs is not None:
        asked = {t.node for v in inputs for t in graph_in(v)}
        if not asked.isdisjoint(reached) or asked.isdisjoint(ancestors(one.node for one in lost)):
            return (), ()
    return (leaves, lost) if all(one.sure for one in lost) else ((), ())
