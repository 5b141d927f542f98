"""The parameter groups of an optimizer: which leaves are in each, and what else stands there."""

from __future__ import annotations

from autodetach.machine import tensors
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.marks import LEAVES
from autodetach.machine.program_values import Iterable
from autodetach.machine.state import MAX_LISTED
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value

SETTINGS = ("lr", "weight_decay")
"""What all optimizers keep in a group, and schedulers change."""


def leaves_of(m: Core, value: Value, site: Site, depth: int = 3) -> list[Tensor]:
    """Leaf tensors among parameters, lists of them, and parameter groups."""
    if isinstance(value, Tensor):
        return [value] if value.node is not None and value.node.leaf else []
    if isinstance(value, Iterable):
        value = Sequence("list", m.collect(value, site, MAX_LISTED)[0])
    if isinstance(value, Opaque):  # what something out of view has made of parameters: `chain(a.parameters(), ...)`
        value = value.attrs.get(LEAVES)
    if depth <= 0:
        return []
    if isinstance(value, Sequence):
        return [leaf for v in value.items[:MAX_LISTED] for leaf in leaves_of(m, v, site, depth - 1)]
    if isinstance(value, Mapping):
        return [leaf for _, v in value.items.values() for leaf in leaves_of(m, v, site, depth - 1)]
    return []


def clip(m: Core, name: str, given: Value, site: Site) -> Tensor:
    """Clip the gradients of what a call is `given`: by their norm, which all of them are read for, or each by itself.

    https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_value_.html
    """
    alone = "value" in name
    reached = [] if alone else [leaf for leaf in leaves_of(m, given, site) if leaf.node is not None and leaf.node.grads]
    if reached:
        m.step(reached, site, "grad")
    m.scaled.append(m.clock)  # that of the step: see `read_between`
    return tensors.plain((), True)


def groups_of(m: Core, given: Value, leaves: list[Tensor], site: Site) -> Sequence:
    """What `param_groups` holds of an optimizer that was given this: parameters or groups, `leaves` in all.

    https://pytorch.org/docs/stable/optim.html#per-parameter-options
    """
    written = [v for v in given.items if isinstance(v, Mapping)] if isinstance(given, Sequence) else []
    if written:
        groups: list[Value] = [group_of(m, v, leaves_of(m, v, site)) for v in written]
        return Sequence("list", groups, m.clock, exact=isinstance(given, Sequence) and given.exact)
    is_counted = isinstance(given, Sequence) and not any(isinstance(v, Opaque) for v in given.items)
    return Sequence("list", [group_of(m, Mapping(), leaves)], m.clock, exact=is_counted)


def group_of(m: Core, written: Mapping, leaves: list[Tensor]) -> Mapping:
    """One group, as the optimizer completes it by what holds for all of them."""
    group = Mapping(m.clock, exact=False)
    group.items.update(written.items)
    group.items[m.key("params")] = ("params", Sequence("list", list(leaves), m.clock))
    for name in SETTINGS:
        group.items[m.key(name)] = (name, m.fresh("number"))
    return group
