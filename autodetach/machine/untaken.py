"""What was put into containers, and since when something may have taken it from there."""

from __future__ import annotations

from autodetach.machine.events import Stored
from autodetach.machine.nested import ALWAYS, MAX_LEVELS
from autodetach.machine.values import Mapping, Sequence


class Untaken:
    """What was stored in containers from which nothing has taken an element since."""

    def __init__(self) -> None:
        self._waiting: dict[Sequence | Mapping, list[Stored]] = {}

    def stored(self, event: Stored) -> None:
        """Something is stored; what others have, or a second container holds, they may take whenever they like."""
        container = event.container
        if container.read == ALWAYS or container.shared:
            event.taken = event.clock
        else:
            self._waiting.setdefault(container, []).append(event)

    def read(self, container: Sequence | Mapping, clock: int, *, whole: bool) -> None:
        """Elements of a container may be taken; of those that are in it, too, where it is read as a whole."""
        waiting = self._waiting
        if container in waiting:
            _take(waiting.pop(container), clock)
        if whole and waiting:
            for each in [c for c in waiting if c.holder is not None and (c.shared or _is_in(c, container))]:
                _take(waiting.pop(each), clock)

    def given_away(self, clock: int) -> None:
        """Some containers may be read by anyone from now on."""
        for each in [c for c in self._waiting if c.read == ALWAYS]:
            _take(self._waiting.pop(each), clock)


def _take(events: list[Stored], clock: int) -> None:
    for event in events:
        event.taken = clock


def _is_in(container: Sequence | Mapping, outer: Sequence | Mapping) -> bool:
    """Whether a container is in another one, or in what is in that."""
    at = container
    for _ in range(MAX_LEVELS):
        if at.holder is None:
            return False
        at = at.holder[0]
        if at is outer:
            return True
    return False
