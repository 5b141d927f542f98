"""Functions out of view that are given a network to begin its states anew, as spikingjelly's `functional.reset_net`.

https://spikingjelly.readthedocs.io/zh-cn/latest/activation_based_en/basic_concept.html
"""

from __future__ import annotations

from collections.abc import Iterable

from autodetach.machine.core import Core
from autodetach.machine.cut_by_others import says_so
from autodetach.machine.held import keeps_history
from autodetach.machine.marks import is_mark
from autodetach.machine.module_tree import is_module, modules_of
from autodetach.machine.program_values import Instance
from autodetach.machine.values import Opaque, Tensor, Value


def reset_by(m: Core, name: str, given: Iterable[Value]) -> None:
    """Whatever the modules that a function is given keep with its graph may be something else behind such a call."""
    if not says_so(name):
        return
    for value in given:
        for module in modules_of(value) if isinstance(value, Instance) and is_module(value) else ():
            for attribute, held in module.attrs.items():
                if not is_mark(attribute) and _is_state(held):
                    module.attrs[attribute] = m.opaque(attribute)
                elif isinstance(held, Tensor) and held.extras:
                    states = (n for n, put in held.extras.items() if not is_mark(n) and _is_state(put))
                    held.extras = held.extras | {n: m.opaque(n) for n in states}


def _is_state(value: Value) -> bool:
    """Whether it has a graph behind it, and is no parameter or part of the network."""
    if isinstance(value, Tensor) and value.parameter:
        return False
    is_part = isinstance(value, Opaque) and value.node is None
    return not is_part and keeps_history(value)
