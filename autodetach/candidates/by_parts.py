"""What is used as a tuple, a dict or a record is no tensor: it has no `detach()`."""

from __future__ import annotations

from autodetach.machine.marks import is_mark
from autodetach.machine.torch_semantics import TENSOR_ATTRIBUTES
from autodetach.machine.values import Opaque

FIRST_TWO = {("[]", ("c", 0)), ("[]", ("c", 1))}
"""What `h, c = state` asks for."""


def has_parts(value: Opaque) -> bool:
    """Whether a program asks something unknown for parts as no tensor has them: `state.h`, `state["h"]`.

    So it does by `h, c = state`: of a tensor, a program rarely takes both of the first two rows.
    """
    return value.attrs.keys() >= FIRST_TWO or any(_is_name(key) for key in value.attrs)


def _is_name(key: object) -> bool:
    if isinstance(key, str):
        return not is_mark(key) and key not in TENSOR_ATTRIBUTES
    return isinstance(key, tuple) and key[0] == "[]" and isinstance(key[1], tuple) and key[1][:2] == ("c", "str")
