"""Cost is a feature: looking stops where it would slow the program down."""

from __future__ import annotations

import time

SHARE = 0.01
FREE_LOOKS = 120
FREE_SECONDS = 2.0
"""So many looks, as long as they take no longer than this together, are made whatever they cost: the first passes tell
most, and a count gives the same result on a busy machine."""


class Budget:
    """The time spent on looking, as a share of the time since the beginning; `None` for no limit.

    What is spent is time of the processor, so that a busy machine sees as much as a quiet one; what has passed is time
    on the wall, since it is asked for at each call, and the other one is a system call.
    """

    def __init__(self, share: float | None = SHARE) -> None:
        self._share = share
        self._begun = time.perf_counter()
        self._since = 0.0
        self.spent = 0.0
        self.looks = 0

    @property
    def left(self) -> bool:
        """Whether there is time for another look."""
        if self._share is None or (self.looks < FREE_LOOKS and self.spent < FREE_SECONDS):
            return True
        return self.spent < self._share * (time.perf_counter() - self._begun)

    def __enter__(self) -> None:
        self._since = time.thread_time()

    def __exit__(self, *exc: object) -> None:
        self.looks += 1
        self.spent += time.thread_time() - self._since
