"""Differentiation of a number: Python has no such method, where the tensor that it was read from has one."""

from __future__ import annotations

import ast

from autodetach.machine.core import Core
from autodetach.machine.differentiation import differentiate_call
from autodetach.machine.events import HistoryLost
from autodetach.machine.graph import Site
from autodetach.machine.swallowing import expects_fault, is_taken
from autodetach.machine.told_of_values import is_number
from autodetach.machine.values import Sym, Value

NUMBER_REFUSED = "number"
"""The kind of the fault: what follows is written for a tensor, and is gone on with as if it were one."""


def is_differentiated(m: Core, this: Value, name: str, site: Site) -> bool:
    """Whether `this.backward()` is called of a number that was surely read from what has history, unexpectedly."""
    if name != "backward" or not (isinstance(this, Sym) and this.lost and is_number(this)):
        return False
    is_sure = isinstance(site.node, ast.Call) and all(one.sure for one in this.lost)
    return is_sure and not expects_fault(m) and not is_taken(m, "AttributeError")


def differentiate_number(m: Core, this: Sym, args: list[Value], kwargs: dict[str, Value], site: Site) -> None:
    """Note that it raises; what is asked of it later is written for a tensor, too."""
    call = site.node
    assert isinstance(call, ast.Call)
    m.type_fault(site, "a number has no attribute `backward`", NUMBER_REFUSED, this.lost)
    m.facts.append(HistoryLost(site, this.lost, tuple(m.trail), not m.grad_enabled))
    root = call.func.value if isinstance(call.func, ast.Attribute) else None
    differentiate_call(m, [], args[1:], kwargs, call, site, root)
    this.kind = ""
