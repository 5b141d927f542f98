"""Children of `multiprocessing`: one that is spawned begins to observe by itself, one that is forked goes on."""

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
    """Call this when a child of `multiprocessing` ends: it leaves by `os._exit`, past `atexit`."""
    from multiprocessing import util

    util.Finalize(None, then, exitpriority=10)
