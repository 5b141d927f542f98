"""Losses of PyTorch that raise where a weight that they are given requires grad: no gradient for it is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from autodetach.machine.core import Core
from autodetach.machine.graph import Site
from autodetach.machine.loss_options import options_of_call
from autodetach.machine.values import Tensor, Value

OF_CLASSES = frozenset({"cross_entropy", "CrossEntropyLoss"})
"""Of probabilities of classes, these have a gradient for the weight."""
REFUSING = OF_CLASSES | frozenset(
    "nll_loss binary_cross_entropy binary_cross_entropy_with_logits multi_margin_loss"
    " NLLLoss NLLLoss2d BCELoss BCEWithLogitsLoss MultiMarginLoss".split()
)


def refuse_weight(m: Core, name: str, options: Mapping[str, Value], target: Value, site: Site) -> None:
    """A loss with these options is computed: it raises if one of the weights requires grad, as far as that is known."""
    if name not in REFUSING or not m.grad_enabled:
        return
    if name in OF_CLASSES and not (isinstance(target, Tensor) and target.is_float is False):
        return
    for option in ("weight", "pos_weight"):
        weight = options.get(option)
        if isinstance(weight, Tensor) and weight.node is not None and not weight.node.weak:
            m.refuse(site, f"`{name}` with a weight that requires grad", "RuntimeError")


def refuse_weight_of_call(m: Core, name: str, args: Sequence[Value], kwargs: Mapping[str, Value], site: Site) -> None:
    """The same for a function of `torch.nn.functional`."""
    if name in REFUSING:
        given = options_of_call(name, args, kwargs)
        refuse_weight(m, name, given, given.get("target"), site)
