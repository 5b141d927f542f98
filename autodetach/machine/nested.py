"""Containers in containers: a list holds a record before that is filled, `log.append({})` and `log[-1][key] = x`."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.held import contents, held_by
from autodetach.machine.program_values import Instance
from autodetach.machine.values import Mapping, Sequence, Value

MAX_LOOKED_AT = 16
"""So many elements of what is put somewhere are looked at."""
MAX_LEVELS = 4
ALWAYS = 1 << 62
"""Of what may be read at any time."""


def note_holder(
    container: Sequence | Mapping, value: Value, held: list[Sequence | Mapping], levels: int = MAX_LEVELS
) -> None:
    """Note that a container holds a value, and that one what is in it, as far as these are containers: in `held`."""
    inner = held_by(value)
    if not isinstance(inner, (Sequence, Mapping)) or inner is container or levels == 0:
        return
    if inner.holder is None:
        held.append(inner)
    elif inner.holder[0] is not container:
        inner.shared = True
    inner.holder = (container, value)
    for item in contents(inner)[:MAX_LOOKED_AT]:
        note_holder(inner, item, held, levels - 1)


def give_away(value: Value, levels: int = 3) -> None:
    """Note that code that is not in view has a value, and may read what is in it whenever it likes."""
    held = held_by(value)
    if isinstance(held, (Sequence, Mapping)):
        held.read = ALWAYS
        inner = contents(held)[:MAX_LOOKED_AT]
    else:
        inner = list(held.attrs.values()) if isinstance(held, Instance) else []
    for item in inner if levels > 1 else ():
        give_away(item, levels - 1)


def holders_of(container: Sequence | Mapping, since: int) -> Iterator[tuple[Sequence | Mapping, Value]]:
    """What holds a container, and what holds that, each with what it holds; only of what was made `since` then."""
    at = container
    for _ in range(MAX_LEVELS):
        if at.holder is None or at.born < since:
            return
        outer, value = at.holder
        yield outer, value
        at = outer
