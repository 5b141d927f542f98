"""What comes from out of view and is summed by the builtin `sum` is a list, of numbers as far as anybody knows."""

from __future__ import annotations

from autodetach.machine.events import Stored
from autodetach.machine.marks import SUMMED
from autodetach.machine.values import Opaque


def is_list_of_numbers(stored: Stored) -> bool:
    """Whether what is stored is summed element by element, and nothing that has to do with it is differentiated."""
    value = stored.tensor
    if not isinstance(value, Opaque) or SUMMED not in value.attrs:
        return False
    return value.node is not None and not value.node.walked_by
