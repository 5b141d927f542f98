"""Which line built a node: between two readings of autograd's counter of nodes lies what one call has recorded."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import OrderedDict, deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from types import FrameType
from typing import Any

from autodetach.doctor.frames import Site, Territory, site_of
from autodetach.doctor.threads import thread_number

MAX_RECORDS = 200_000
MAX_CHANGES = 5_000
MAX_CUTS = 1_000
MAX_FRAMES = 8
IN_PLACE = frozenset("__setitem__ __iadd__ __isub__ __imul__ __itruediv__ __ipow__ __imatmul__ __ifloordiv__".split())


@dataclass(frozen=True, slots=True)
class Cut:
    """A tensor was detached: the sequence number of its node, that of the next node then, and the user's lines."""

    sequence: int
    moment: int
    sites: tuple[Site, ...]


@dataclass(eq=False, slots=True)
class _Record:
    """What one thread has built: each numbers its nodes by itself."""

    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    sites: list[tuple[Site, ...]] = field(default_factory=list)

    def built(self, sequence: int) -> tuple[Site, ...]:
        index = bisect_right(self.starts, sequence) - 1
        return self.sites[index] if index >= 0 and sequence < self.ends[index] else ()


class Lines:
    """Sequence numbers to lines, what was changed in place, and what was detached, as far as the mode was on."""

    def __init__(self, territory: Territory) -> None:
        self._territory = territory
        self._records: dict[int, _Record] = {}
        self._changes: OrderedDict[tuple[int, int], Site] = OrderedDict()
        self._cuts: deque[Cut] = deque(maxlen=MAX_CUTS)

    def built(self, sequence: int) -> tuple[Site, ...]:
        """Where the node was built, from the user's innermost line outwards; nothing where that was not seen, or where
        several threads have a node of this number."""
        found = [sites for record in self._records.values() if (sites := record.built(sequence))]
        return found[0] if len(found) == 1 else ()

    def changed(self, tensor: Any) -> Site | None:
        """The line that changed the tensor in place to its present version."""
        key = _state_of(tensor)
        return None if key is None else self._changes.get(key)

    def cuts(self, first: int, last: int) -> Iterator[Cut]:
        """What was detached while the next node had a number from `first` to `last`."""
        return (cut for cut in self._cuts if first <= cut.moment <= last)

    def note(self, before: int, after: int, frame: FrameType | None) -> None:
        """Nodes from `before` up to `after` were recorded by the line that `frame` is at."""
        record = self._records.setdefault(thread_number(), _Record())
        if (record.starts and before < record.ends[-1]) or len(record.starts) >= MAX_RECORDS:
            return
        record.starts.append(before)
        record.ends.append(after)
        record.sites.append(self._stack(frame))

    def note_change(self, tensor: Any, frame: FrameType | None) -> None:
        """The tensor was changed in place."""
        key = _state_of(tensor)
        user = self._territory.innermost(frame)
        if key is not None and user is not None:
            self._changes[key] = site_of(user)
            if len(self._changes) > MAX_CHANGES:
                self._changes.popitem(last=False)

    def note_cut(self, sequence: int, moment: int, frame: FrameType | None) -> None:
        """A tensor with this node was detached."""
        self._cuts.append(Cut(sequence, moment, self._stack(frame)))

    def _stack(self, frame: FrameType | None) -> tuple[Site, ...]:
        return tuple(map(site_of, islice(self._territory.frames(frame), MAX_FRAMES)))


def _state_of(tensor: Any) -> tuple[int, int] | None:
    """The address of what a tensor holds and its version; None for one that has no address."""
    try:
        return tensor.untyped_storage().data_ptr(), tensor._version
    except (RuntimeError, NotImplementedError, AttributeError):
        return None


def mode_for(torch: Any, lines: Lines) -> Any:
    """A `TorchFunctionMode` that fills `lines` while its `active` is true."""
    counter = torch.autograd._get_sequence_nr
    data = torch.Tensor.data.__get__

    class Watching(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        active = True
        calls = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            __tracebackhide__ = True
            if not self.active:
                return func(*args, **(kwargs or {}))
            name = getattr(func, "__name__", "")
            node = getattr(args[0], "grad_fn", None) if args and (name == "detach" or func == data) else None
            before = counter()
            result = func(*args, **(kwargs or {}))
            self.calls += 1
            after = counter()
            if after > before:
                lines.note(before, after, sys._getframe(1))
            if node is not None:
                lines.note_cut(node._sequence_nr(), after, sys._getframe(1))
            in_place = name in IN_PLACE or (name.endswith("_") and not name.startswith("_"))
            if in_place and args and isinstance(args[0], torch.Tensor):
                lines.note_change(args[0], sys._getframe(1))
            return result

    return Watching()
