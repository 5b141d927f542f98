"""Attributes that a program puts on tensors, `weight.fast = weight - step`: whoever has the tensor may read them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.held import keeps_history, tensors_in
from autodetach.machine.marks import OUT_OF_VIEW, is_mark
from autodetach.machine.module_tree import is_module, parameters_of
from autodetach.machine.program_values import Instance
from autodetach.machine.values import Tensor, Value


def note(m: Core, tensor: Tensor, name: str, new: Value, site: Site) -> None:
    """What is put on a parameter of a network out of view is handed to that; of others, it is once they are given."""
    if OUT_OF_VIEW in (tensor.extras or ()):
        m.escape([new], site, name)
    elif not m.adds_attributes and keeps_history(new):
        m.adds_attributes = True


def added_to(values: Iterable[Value]) -> Iterator[Value]:
    """What was put on the tensors and parameters in some values."""
    for value in values:
        inside = parameters_of(value) if isinstance(value, Instance) and is_module(value) else tensors_in(value)
        for tensor in inside:
            if isinstance(tensor, Tensor) and tensor.extras:
                yield from (held for name, held in tensor.extras.items() if not is_mark(name))
