"""Cost is a feature: looking stops where it would slow the program down."""

from __future__ import annotations

import time

SHARE = 0.01
FREE_LOOKS = 120
FREE_SECONDS = 2.0
"""So many looks, as long as they take no longer than this together, are made whatever they cost: the first passes tell
most."""


class Budget:
    """The time spent on looking, as a share of the time since the beginning; `None` for no limit.

    Both are time on the wall: that of the processor is a system call, too dear for what is asked at each call. Only the
    first looks are timed by it, so that a busy machine sees as much as a quiet one.
    """

    def __init__(self, share: float | None = SHARE) -> None:
        self._share = share
        self._begun = time.perf_counter()
        self._since = 0.0
        self._since_busy = 0.0
        self._busy = 0.0
        self.spent = 0.0
        self.looks = 0

    @property
    def left(self) -> bool:
        """Whether there is time for another look."""
        if self._share is None or self._is_free:
            return True
        return self.spent < self._share * (time.perf_counter() - self._begun)

    @property
    def _is_free(self) -> bool:
        return self.looks < FREE_LOOKS and self._busy < FREE_SECONDS

    def __enter__(self) -> None:
        self._since = time.perf_counter()
        self._since_busy = time.thread_time() if self._is_free else 0.0

    def __exit__(self, *exc: object) -> None:
        if self._since_busy:
            self._busy += time.thread_time() - self._since_busy
        self.looks += 1
        self.spent += time.perf_counter() - self._since
