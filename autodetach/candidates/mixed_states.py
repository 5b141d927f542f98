"""A state that has tensors beside other things, `(None, h)` or `(count, h)`: what are tensors in it are detached."""

from __future__ import annotations

from autodetach.candidates.detaching import element_name
from autodetach.machine.held import graph_in
from autodetach.machine.told_of_values import is_constant
from autodetach.machine.values import Sequence, Tensor, Value


def if_tensors(template: str, value: Value) -> str | None:
    """Text that detaches the tensors of tuples and lists, nested or not, and leaves numbers and None as they are.

    `template` is the text of the value. None if it has no such text.
    """
    return _guarded(template, value) if next(graph_in(value), None) is not None else None


def _guarded(template: str, value: Value) -> str | None:
    if not isinstance(value, Sequence) or value.kind not in ("tuple", "list"):
        return None
    name = element_name(template)
    if all(isinstance(item, Tensor) or is_constant(item) for item in value.items):
        each = f"{name}.detach() if torch.is_tensor({name}) else {name}"
    else:
        inner = {_guarded(name, item) for item in value.items}
        if len(inner) != 1 or None in inner:
            return None
        each = str(inner.pop())
    made = f"{each} for {name} in {template}"
    return f"tuple({made})" if value.kind == "tuple" else f"[{made}]"
