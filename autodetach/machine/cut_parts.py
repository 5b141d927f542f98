"""Something unknown that is cut part by part: `state[0].detach_()`, `state.h = state.h.detach()`.

What else it has nobody knows, so nothing is assumed of its history any more.
"""

from __future__ import annotations

from autodetach.machine.held import graph_in, tensors_in
from autodetach.machine.marks import WEIGHTS
from autodetach.machine.state import MISSING
from autodetach.machine.values import Opaque, Sequence, Tensor, Value

MAX_STEPS = 6
"""From a detached part to the whole that it was taken from."""


def cut_in_place(part: Opaque) -> None:
    """`part.detach_()`."""
    if part.node is not None and part.node.op == "part" and part.owner is not None:
        _let_go(part.owner)


def cut_by_store(whole: Opaque, key: object, new: Value, *, named: bool) -> None:
    """`whole[key] = new` or, `named`, `whole.key = new` and `whole["key"] = new`: what has that name is detached.

    Of several that have names, all that are known are to be.
    """
    source = whole.attrs.get(key, MISSING) if named else whole
    others = [value for at, value in whole.attrs.items() if at != key] if named else []
    is_last = not any(True for value in others for _ in graph_in(value))
    if isinstance(source, Opaque) and is_last and _is_cut(new, source):
        _let_go(whole)


def is_of_tensor(index: Value) -> bool:
    """Whether only tensors have such an index: `rows[:, 0]`, `rows[mask]`."""
    return isinstance(index, (Tensor, Sequence))


def _is_cut(new: Value, source: Opaque) -> bool:
    """Whether what is given has no history, and some of it is a part that was detached."""
    values = list(tensors_in(new))
    return all(v.node is None for v in values) and any(
        isinstance(v, Opaque) and _is_taken_from(v, source) for v in values
    )


def _is_taken_from(value: Opaque, source: Opaque) -> bool:
    owner = value.owner
    for _ in range(MAX_STEPS):
        if owner is None or owner is source:
            return owner is source
        owner = owner.owner
    return False


def _let_go(whole: Opaque) -> None:
    if whole.node is not None and not whole.node.leaf and WEIGHTS not in whole.attrs:
        whole.node = None
