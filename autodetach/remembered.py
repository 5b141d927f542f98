"""What a process keeps of one check for the next, and what may end a check in its middle."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from autodetach.checks import CheckResult
    from autodetach.incremental.again import Again

_again: Again | None = None
_pausing: Callable[[], None] | None = None


def kept_analysis() -> Again | None:
    """The last analysis of this process, if it is kept."""
    return _again


def remember(pause: Callable[[], None] | None, told: Callable[[CheckResult], None] | None) -> None:
    """From now on, keep the last analysis of this process, which takes memory: the same program may come again.

    `pause` is called now and then, and may raise what ends the check. `told` hears what the default path of a program
    shows by itself, without repairs, if there are others to be run.
    """
    from autodetach.incremental.again import Again

    global _again, _pausing
    _again, _pausing = _again or Again(), pause
    _again.told = told


@contextlib.contextmanager
def unremembered() -> Iterator[None]:
    """Meanwhile, nothing is taken from what is remembered, nor kept: other programs are checked, too."""
    global _again
    kept, _again = _again, None
    try:
        yield
    finally:
        _again = kept


def tidy() -> None:
    """Clear away what is remembered, and not needed any more."""
    if _again is not None:
        _again.tidy()


def pause() -> None:
    """Let what waits end the check."""
    if _pausing is not None:
        _pausing()
