"""Tasks and threads that run beside the rest of a program, in an order that nobody knows.

The machine runs them there and then. What one of them has done by then may, in the program, come later, until it has
been waited for.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Task:
    """What a thread, or a coroutine that is not awaited at once, does from a moment to another one."""

    __slots__ = ("begun", "ended", "is_awaited", "is_thread")

    def __init__(self, begun: int, *, is_thread: bool) -> None:
        self.begun = begun
        self.ended: int | None = None
        self.is_awaited = False
        self.is_thread = is_thread


class Tasks:
    """Those of one run; the node that is `awaited` right now, and the `unordered` calls that differentiate.

    Those walk a graph which another task, or who made it, walks too: nobody knows which of both comes first.
    """

    __slots__ = ("all", "awaited", "unordered")

    def __init__(self) -> None:
        self.all: list[Task] = []
        self.awaited: ast.AST | None = None
        self.unordered: set[ast.Call] = set()

    @contextmanager
    def beside(self, tick: Callable[[], int], *, is_thread: bool = True) -> Iterator[Task]:
        """Run something beside the rest."""
        task = Task(tick(), is_thread=is_thread)
        self.all.append(task)
        try:
            yield task
        finally:
            task.ended = tick()

    def may_come_later(self, clock: int) -> bool:
        """Whether what was done then may be done only later than now."""
        return any(t.begun < clock <= t.ended for t in self.all if t.ended is not None and not t.is_awaited)

    @contextmanager
    def awaiting(self, node: ast.AST) -> Iterator[None]:
        """Wait for what begins in the meantime: all of it is over behind this."""
        known, before = len(self.all), self.awaited
        self.awaited = node
        try:
            yield
        finally:
            self.awaited = before
            for task in self.all[known:]:
                task.is_awaited = task.is_awaited or not task.is_thread

    def end_loop(self) -> None:
        """The event loop ends, and all that ran in it."""
        for task in self.all:
            task.is_awaited = task.is_awaited or not task.is_thread

    def end(self, since: int = 0) -> None:
        """All are over, or those that were begun after so many."""
        for task in self.all[since:]:
            task.is_awaited = True


def is_coroutine(function: ast.AST) -> bool:
    return type(function) is ast.AsyncFunctionDef
