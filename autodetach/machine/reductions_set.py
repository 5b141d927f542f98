"""Losses that are told otherwise than by their constructor whether they give one number: `loss.reduction = "none"`."""

from __future__ import annotations

from autodetach.machine.core import Core
from autodetach.machine.mentioned import mentioned

OPTIONS = frozenset({"reduction", "reduce", "size_average"})


def may_be_set(m: Core) -> bool:
    """Whether the program sets such an option of any object: which ones these are, is often found out by a loop."""
    modules = [] if m.project is None else m.project.modules
    return any(not OPTIONS.isdisjoint(mentioned(module.tree).set_on_others) for module in modules)
