"""The mode that notes which line builds what: on while it is worth its price, in the thread that trains."""

from __future__ import annotations

import sys
from typing import Any

from autodetach.doctor.lines import Lines, mode_for
from autodetach.doctor.threads import thread_number

DEEP_CALLS = 6
"""Differentiations during which the lines that build nodes are noted, unless all are asked for."""
DEEP_OPERATIONS = 20_000


class Noting:
    """Holds the mode, where there is one."""

    def __init__(self, torch: Any, lines: Lines, *, always: bool) -> None:
        self._torch = torch
        self._lines = lines
        self._always = always
        self._mode: Any = None
        self._thread = 0

    def begin(self) -> None:
        """Note what this thread builds from now on, and no other; nothing beside compiled functions."""
        if self._mode is not None and self._mode.active and self._thread == thread_number():
            return
        self.end()
        if not has_compiled():
            self._thread = thread_number()
            self._mode = mode_for(self._torch, self._lines)
            self._mode.__enter__()

    def enough(self, calls: int) -> None:
        """So many differentiations have been seen since it began."""
        mode = self._mode
        if mode is not None and not self._always and (calls >= DEEP_CALLS or mode.calls > DEEP_OPERATIONS):
            mode.active = False

    def end(self) -> None:
        """Note no more, and take the mode off where it lies on top."""
        if self._mode is not None:
            self._mode.active = False
            self.leave()

    def leave(self) -> None:
        """Take a mode that notes no more off the stack of this thread, if it lies on top; else it stays there."""
        mode = self._mode
        if mode is None or mode.active or thread_number() != self._thread:
            return
        if self._torch.overrides._get_current_function_mode() is mode:
            mode.__exit__(None, None, None)
            self._mode = None


def has_compiled() -> bool:
    """Whether something was compiled already: a mode would be traced, too, and break what is to be one graph."""
    backends = getattr(sys.modules.get("torch._dynamo.eval_frame"), "cached_backends", {})
    return any(callable(backend) for backend in backends.values())  # optimizers switch it off, with None
