"""Networks that are not in view: what shows that something is one, and the leaf that stands for its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from autodetach.machine import tensors
from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.marks import OPTIMIZER, OUT_OF_VIEW, QUIET, WEIGHTS
from autodetach.machine.values import Opaque, Tensor, Value

FROZEN = "#frozen"
"""Marks what was told, before anybody knew that it is a network, not to require grad."""
OF_LAYERS = "#weights of layers"
"""Marks what a layer was taken from, which may be no network itself, by the weights of that layer."""


def weights_of_network(m: Core, this: Opaque, site: Site) -> Tensor:
    """The leaf that stands for the parameters of something that is known, from now on, to be a network."""
    known = this.attrs.get(WEIGHTS)
    if not isinstance(known, Tensor):
        known = this.attrs[WEIGHTS] = weights_of_layers(this) or _leaf(m, _is_frozen(this), site)
        this.attrs.pop(OPTIMIZER, None)
    assert isinstance(known, Tensor)
    return known


def weights_of_layers(this: Opaque) -> Tensor | None:
    """The leaf of layers that were taken from it, or from what that was taken from."""
    return next((leaf for o in _owners(this) if isinstance(leaf := o.attrs.get(OF_LAYERS), Tensor)), None)


def are_layers(m: Core, values: Iterable[Value], site: Site) -> None:
    """What stands in a `Sequential` is a network. If it was taken from another one, it shares the weights of that."""
    for value in values:
        if not isinstance(value, Opaque) or WEIGHTS in value.attrs or QUIET in value.attrs:
            continue
        if value.node is not None and not value.node.weak:
            continue
        *_, whole = owners = list(_owners(value))
        leaf = next((o.attrs[mark] for o in owners for mark in (WEIGHTS, OF_LAYERS) if mark in o.attrs), None)
        if leaf is None:
            leaf = whole.attrs[OF_LAYERS] = _leaf(m, any(map(_is_frozen, owners)), site)
        value.attrs[WEIGHTS] = leaf


def _owners(value: Opaque) -> Iterator[Opaque]:
    """A value, what it was taken from, what that was taken from, and so on."""
    at: Opaque | None = value
    while at is not None:
        yield at
        at = at.owner


def _is_frozen(this: Opaque) -> bool:
    return FROZEN in this.attrs


def _leaf(m: Core, frozen: bool, site: Site) -> Tensor:
    leaf = m.leaf(site)
    leaf.parameter = True
    leaf.extras = {OUT_OF_VIEW: True}
    if leaf.node is not None:
        leaf.node.presumed = True
    if m.differentiations:
        leaf.grad = m.opaque("grad")  # what was differentiated before may have reached it
    if frozen:
        tensors.set_requires_grad(m, leaf, False, site)
    return leaf
