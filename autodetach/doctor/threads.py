"""Which thread this is: a number that no other thread gets later, as its ident may be."""

from __future__ import annotations

import itertools
import threading

MAIN = 0

_local = threading.local()
_numbers = itertools.count(MAIN + 1)


def thread_number() -> int:
    """That of this thread; `MAIN` for the main one."""
    number: int | None = getattr(_local, "number", None)
    if number is None:
        is_main = threading.get_ident() == threading.main_thread().ident
        number = _local.number = MAIN if is_main else next(_numbers)
    return number
