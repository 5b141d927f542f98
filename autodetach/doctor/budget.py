"""Cost is a feature: looking stops where it would slow the program down."""

from __future__ import annotations

import time

SHARE = 0.02
GRACE = 0.25
"""Seconds that may be spent before the share counts, so that the first passes are seen whole."""


class Budget:
    """The processor time spent on looking, as a share of the time since the beginning; `None` for no limit."""

    def __init__(self, share: float | None = SHARE) -> None:
        self._share = share
        self._begun = time.perf_counter()
        self._since = 0.0
        self.spent = 0.0

    @property
    def left(self) -> bool:
        """Whether there is time for another look."""
        if self._share is None:
            return True
        return self.spent < GRACE + self._share * (time.perf_counter() - self._begun)

    def __enter__(self) -> None:
        self._since = time.thread_time()

    def __exit__(self, *exc: object) -> None:
        self.spent += time.thread_time() - self._since
