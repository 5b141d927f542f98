"""Lists that a loop fills with a list: rewards next to log-probabilities, by whatever name each of them is reached.

Which list something is put into, a run shows; what it is called there may be the name of no list at all, as in
`getattr(self, name).append(value)`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeGuard

from autodetach.machine.marks import is_mark
from autodetach.machine.program_values import Frame, Instance
from autodetach.machine.values import Mapping, Sequence, Value
from autodetach.view.holders import Holder, Replay

GROWING = ("append", "extend")
MAX_STEPS = 2


def is_list(value: Value) -> TypeGuard[Sequence]:
    return isinstance(value, Sequence) and value.kind in ("list", "deque") and value.maxlen is None


def grown_alike(again: Replay, holder: Holder) -> Iterator[str]:
    """Lists next to a list, in its object or its frame, which grow by as much."""
    base, dot, own = holder.text.rpartition(".")
    if (holder.owner is not None) == bool(dot) and own.isidentifier():
        around = holder.owner.attrs if holder.owner is not None else _names_beside(holder)
        yield from (f"{base}{dot}{name}" for name in _alike(again, holder.value, around))


def grown_together(again: Replay, holder: Holder) -> list[str] | None:
    """These, those of the same dict, and those that the same places fill. None if one of the latter has no name."""
    found = list(grown_alike(again, holder))
    whole, _, key = holder.text.rpartition("[")
    table = _at(holder, whole)
    if isinstance(table, Mapping) and f"[{key}" in (f'["{k}"]' for k, _ in table.items.values()):
        found += (f'{whole}["{k}"]' for k in _alike(again, holder.value, _by_text(table)))
    filled = [list_ for list_ in _filled_with(again, holder.value) if _is_alike(holder.value, list_)]
    for list_ in filled:
        if not any(_at(holder, text) is list_ for text in found):
            text = next((t for t, value in _around(holder) if value is list_), None)
            if text is None:
                return None
            found.append(text)
    return found


def _alike(again: Replay, value: Value, around: dict[str, Value]) -> Iterator[str]:
    """The names of other lists that grow by as much as one, the first of each."""
    grown = {event.container for event in again.put if event.how in GROWING}
    told = {id(value)}
    for name, other in around.items():
        if id(other) not in told and _is_alike(value, other) and other in grown:
            told.add(id(other))
            yield name


def _is_alike(value: Value, other: Value) -> TypeGuard[Sequence]:
    return is_list(value) and is_list(other) and len(value.items) == len(other.items)


def _filled_with(again: Replay, value: Value) -> list[Sequence | Mapping]:
    """What the places fill that fill a list."""
    places = {event.site.node for event in again.put if event.container is value and event.how in GROWING}
    filled = (event.container for event in again.put if event.site.node in places and event.how in GROWING)
    return [other for other in dict.fromkeys(filled) if other is not value]


def _names_beside(holder: Holder) -> dict[str, Value]:
    """The names of the frame that has the list: a function empties lists of its module, too."""
    frame: Frame | None = holder.frame
    while frame is not None and frame.names.get(holder.name) is not holder.value:
        frame = frame.outer
    return {} if frame is None else frame.names


def _at(holder: Holder, text: str) -> Value:
    """What a text stands for where the list is held."""
    return next((value for t, value in _around(holder) if t == text), None)


def _around(holder: Holder) -> Iterator[tuple[str, Value]]:
    """What the frame of a list holds under its names, by attributes of objects and keys of dicts, nearest first."""
    frame: Frame | None = holder.frame
    while frame is not None and holder.name not in frame.names:
        frame = frame.outer
    near = list(frame.names.items()) if frame is not None else []
    for steps in range(MAX_STEPS + 1):
        yield from near
        if steps < MAX_STEPS:
            near = [(f"{text}{step}", value) for text, whole in near for step, value in _inside(whole)]


def _inside(value: Value) -> Iterator[tuple[str, Value]]:
    if isinstance(value, Instance):
        attrs = list(value.attrs.items())
        yield from ((f".{name}", v) for name, v in attrs if name.isidentifier() and not is_mark(name))
    elif isinstance(value, Mapping):
        yield from ((f'["{key}"]', v) for key, v in _by_text(value).items())


def _by_text(table: Mapping) -> dict[str, Value]:
    """What a dict has by texts that can be written between quotes."""
    found = list(table.items.values())
    return {key: v for key, v in found if isinstance(key, str) and key.isprintable() and not {'"', "\\"} & {*key}}
