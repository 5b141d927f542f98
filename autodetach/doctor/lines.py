"""Which line built a node: between two readings of autograd's counter of nodes lies what one call has recorded."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import OrderedDict
from itertools import islice
from types import FrameType
from typing import Any

from autodetach.doctor.frames import Site, Territory, site_of

MAX_RECORDS = 200_000
MAX_CHANGES = 5_000
MAX_FRAMES = 4
IN_PLACE = frozenset("__setitem__ __iadd__ __isub__ __imul__ __itruediv__ __ipow__ __imatmul__ __ifloordiv__".split())


class Lines:
    """Sequence numbers to lines, and changes in place, as far as the mode was on; of the main thread."""

    def __init__(self, territory: Territory) -> None:
        self._territory = territory
        self._starts: list[int] = []
        self._ends: list[int] = []
        self._sites: list[tuple[Site, ...]] = []
        self._changes: OrderedDict[tuple[int, int], Site] = OrderedDict()

    def built(self, sequence: int) -> tuple[Site, ...]:
        """Where the node was built, from the user's innermost line outwards; nothing where that was not seen."""
        index = bisect_right(self._starts, sequence) - 1
        if index < 0 or sequence >= self._ends[index]:
            return ()
        return self._sites[index]

    def changed(self, tensor: Any) -> Site | None:
        """The line that changed the tensor in place to its present version."""
        key = _state_of(tensor)
        return None if key is None else self._changes.get(key)

    def note(self, before: int, after: int, frame: FrameType | None) -> None:
        """Nodes from `before` up to `after` were recorded by the line that `frame` is at."""
        if (self._starts and before < self._ends[-1]) or len(self._starts) >= MAX_RECORDS:
            return
        self._starts.append(before)
        self._ends.append(after)
        self._sites.append(self._stack(frame))

    def note_change(self, tensor: Any, frame: FrameType | None) -> None:
        """The tensor was changed in place."""
        key = _state_of(tensor)
        user = self._territory.innermost(frame)
        if key is not None and user is not None:
            self._changes[key] = site_of(user)
            if len(self._changes) > MAX_CHANGES:
                self._changes.popitem(last=False)

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

    class Watching(torch.overrides.TorchFunctionMode):  # type: ignore[misc]
        active = True
        calls = 0

        def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            __tracebackhide__ = True
            if not self.active:
                return func(*args, **(kwargs or {}))
            before = counter()
            result = func(*args, **(kwargs or {}))
            self.calls += 1
            after = counter()
            if after > before:
                lines.note(before, after, sys._getframe(1))
            name = getattr(func, "__name__", "")
            in_place = name in IN_PLACE or (name.endswith("_") and not name.startswith("_"))
            if in_place and args and isinstance(args[0], torch.Tensor):
                lines.note_change(args[0], sys._getframe(1))
            return result

    return Watching()
