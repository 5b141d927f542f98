"""Children of `multiprocessing`: one that is spawned begins to observe by itself, one that is forked goes on.

A child of either kind leaves by `os._exit`, past `atexit`, and what is to be called then has to be registered when it
has begun its work: the first thing that it does is to forget what its parent had registered (`process._bootstrap`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

KEY = "autodetach"


class Stowaway:
    """Travels with what a spawned child is told of its main module, and calls a function where it is unpacked."""

    def __init__(self, begin: Callable[..., None], arguments: tuple[Any, ...]) -> None:
        self._begin = begin
        self._arguments = arguments

    def __reduce__(self) -> tuple[Callable[..., None], tuple[Any, ...]]:
        return self._begin, self._arguments


def call_in_children(begin: Callable[..., None], *arguments: Any) -> Callable[[], None]:
    """Call `begin`, a function of a module, in the processes that this one spawns; returns what ends that."""
    from multiprocessing import spawn

    original = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {**original(name), KEY: Stowaway(begin, arguments)}

    def restore() -> None:
        spawn.get_preparation_data = original

    spawn.get_preparation_data = get_preparation_data
    return restore


def at_end_of_child(then: Callable[[], None]) -> None:
    """Call this when this child of `multiprocessing` ends."""
    from multiprocessing import util

    util.Finalize(None, then, exitpriority=10)


def at_end_of_forked(owner: Any, then: Callable[[Any], None]) -> None:
    """Call this with `owner`, as long as there is one, when a child of `multiprocessing` that is forked ends."""
    from multiprocessing import util

    util.register_after_fork(owner, lambda each: at_end_of_child(lambda: then(each)))
