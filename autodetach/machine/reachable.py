"""Which objects the program still holds, by a name or by what others hold: what is held by nothing is gone."""

from __future__ import annotations

from collections.abc import Iterator

from autodetach.machine.core import Core
from autodetach.machine.held import contents
from autodetach.machine.program_values import Class, Frame, Function, Instance, Iterable, Method, Namespace, Native
from autodetach.machine.values import Mapping, Opaque, Sequence, Tensor, Value

MOST = 4096
"""So many values are looked into."""


def reachable(m: Core) -> set[int]:
    """The identities of all objects that are held for certain; of a great many, some."""
    found: set[int] = set()
    frames: set[int] = set()
    pending: list[Value] = [*m.namespaces.values()]
    for _, frame in m.trail:
        pending += _names(frame, frames)
    while pending and len(found) < MOST:
        value = pending.pop()
        if isinstance(value, (str, bytes, int, float)) or value is None or id(value) in found:
            continue
        found.add(id(value))
        pending += _held(value, frames)
    return found


def _names(frame: Frame | None, frames: set[int]) -> Iterator[Value]:
    """What the names of a call, and of those around it, stand for."""
    while frame is not None and id(frame) not in frames:
        frames.add(id(frame))
        yield frame.this
        yield from frame.names.values()
        frame = frame.outer


def _held(value: Value, frames: set[int]) -> Iterator[Value]:
    if isinstance(value, (Sequence, Mapping)):
        yield from contents(value)
        if isinstance(value, Mapping) and not getattr(value.items, "weak_keys", False):
            yield from (key for key, _ in value.items.values())
    elif isinstance(value, Method):
        yield value.function
        yield value.this
    elif isinstance(value, Function):
        yield from value.defaults
        yield from value.kwdefaults
        yield from value.attrs.values()
        yield from _names(value.frame, frames)
    elif isinstance(value, Class):
        yield from value.names.values()
        yield from value.bases
    elif isinstance(value, Namespace):
        yield from _names(value.frame, frames)
    elif isinstance(value, Iterable):
        yield from (value.inner, value.taken, value.latest)
        yield from _names(value.frame, frames)
    elif isinstance(value, (Instance, Opaque, Native)):
        yield from value.attrs.values()
        if isinstance(value, Native):
            yield value.this
    elif isinstance(value, Tensor) and value.extras:
        yield from value.extras.values()
