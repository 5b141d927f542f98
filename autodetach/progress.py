"""A progress bar for a person who waits at a terminal, and nothing for everybody else."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import Any, TypeVar

PATIENCE_SECONDS = 1.0

T = TypeVar("T")


def tracked(items: Iterable[T], total: int) -> Iterator[T]:
    """The same items; once they take longer than PATIENCE_SECONDS, a bar on standard error if that is a terminal."""
    if total < 2 or not sys.stderr.isatty():
        yield from items
        return
    start = time.monotonic()
    with ExitStack() as stack:
        bar: Any = None
        for done, item in enumerate(items, 1):
            yield item
            if bar is not None:
                bar.update(1)
            elif time.monotonic() - start > PATIENCE_SECONDS:
                import typer

                bar = stack.enter_context(typer.progressbar(length=total, label="Checking", file=sys.stderr))
                bar.update(done)
