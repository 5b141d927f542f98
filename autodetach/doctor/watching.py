"""`autodetach.watch()`: a block of a program, or a function, under observation."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from types import FrameType, TracebackType
from typing import Any, TypeVar, cast

from autodetach.console import counted, say, width_of
from autodetach.doctor.diagnosis import Diagnosis, Kind
from autodetach.doctor.frames import Territory
from autodetach.doctor.hooking import when_imported
from autodetach.doctor.observer import Observer, Options
from autodetach.doctor.table import table
from autodetach.doctor.threads import thread_number
from autodetach.doctor.words import paragraph

Function = TypeVar("Function", bound=Callable[..., Any])

_BETWEEN = ("autodetach", "contextlib")
_active: list[Watch] = []
_calls: ContextVar[tuple[Watch, ...]] = ContextVar("autodetach_calls", default=())


class Watch:
    """Watches PyTorch inside a `with` block, or in each call of a function that it decorates.

    What is seen is in `diagnoses`, during the block and after it; a report goes to standard error at the end of the
    block, unless it is `quiet`. `trace` looks at every pass and every operation, however much slower that is.

    PyTorch may be imported before the block or in it, and is as it was behind it. An error passes through unchanged,
    but for a note on one that is diagnosed. All threads are observed; names are looked at in the thread that entered
    the block. One watch may be used again, and others may be active at the same time, inside or beside it.
    """

    def __init__(self, *, quiet: bool = False, trace: bool = False) -> None:
        self._quiet = quiet
        self._options = Options(trace=trace)
        self._observer: Observer | None = None
        self._found: list[Diagnosis] = []
        self._told: set[tuple[object, ...]] = set()
        self._thread = 0
        self._file: str | None = None

    @property
    def diagnoses(self) -> tuple[Diagnosis, ...]:
        """What was seen so far, in this block or in the last one: errors first, as they came."""
        if self._observer is None:
            return tuple(self._found)
        return distinct([*self._found, *self._observer.results()])

    @property
    def active(self) -> bool:
        """Whether the block is entered, and not left."""
        return self._observer is not None

    def __enter__(self) -> Watch:
        """Raises RuntimeError if this same watch is active already."""
        if self._observer is not None:
            raise RuntimeError("this watch is active already: a block inside its block needs another one")
        self._thread = thread_number()
        self._found.clear()
        self._told.clear()
        territory = Territory()
        file = self._file or _caller()
        if file is not None:
            territory.add(file)
        observer = self._observer = Observer(self._options, territory, self._found.append, self._thread)
        _active.append(self)

        def attach(torch: Any) -> None:
            if self._observer is observer:  # and not when the block is left
                observer.attach(torch)

        when_imported("torch", attach)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        observer = self._observer
        if observer is None:
            raise RuntimeError("this watch is not active")
        try:
            self._found[:] = self.diagnoses
        finally:
            self._observer = None
            _active.remove(self)
            observer.detach()
        self._report(observer, raised=error is not None)

    def __call__(self, function: Function) -> Function:
        """Decorate a function, a generator or a coroutine function: each call that is not inside another is a block.

        `diagnoses` are those of the call that ended last. Raises TypeError for an asynchronous generator.
        """
        if inspect.isasyncgenfunction(function):
            raise TypeError("an asynchronous generator cannot be watched: watch the function that iterates over it")
        code = getattr(inspect.unwrap(function), "__code__", None)
        file = None if code is None else code.co_filename
        if inspect.iscoroutinefunction(function):

            @functools.wraps(function)
            async def watched_coroutine(*args: Any, **kwargs: Any) -> Any:
                with self._call(file):
                    return await function(*args, **kwargs)

            return cast(Function, watched_coroutine)
        if inspect.isgeneratorfunction(function):

            @functools.wraps(function)
            def watched_generator(*args: Any, **kwargs: Any) -> Any:
                with self._call(file):
                    return (yield from function(*args, **kwargs))

            return cast(Function, watched_generator)

        @functools.wraps(function)
        def watched(*args: Any, **kwargs: Any) -> Any:
            with self._call(file):
                return function(*args, **kwargs)

        return cast(Function, watched)

    @contextmanager
    def _call(self, file: str | None) -> Iterator[None]:
        outer = _calls.get()
        if self in outer:  # the function calls itself
            yield
            return
        block = Watch(quiet=self._quiet, trace=self._options.trace)
        block._file = file
        _calls.set((*outer, self))
        try:
            with block:
                yield
        finally:
            _calls.set(outer)
            self._found[:] = block.diagnoses

    def _report(self, observer: Observer, raised: bool) -> None:
        """What no block inside this one has told."""
        news = [diagnosis for diagnosis in self._found if _key(diagnosis) not in self._told]
        if self._quiet:
            return
        for other in _active:
            if other._thread == self._thread:
                other._told.update(map(_key, news))
        lines = [f"autodetach: {text}" for text in observer.blind]
        for diagnosis in news:
            lines += paragraph(diagnosis)
        lines += table(news, width_of(sys.stderr))
        if not self._found and not raised:
            lines.append(f"autodetach: {summary(observer)}")
        if lines:
            say("\n".join(lines))


def summary(observer: Observer, calls: int = 0, steps: int = 0) -> str:
    """What was observed, behind so many differentiations and steps, where no fault was seen."""
    if not observer.attached:
        return "the program has not imported PyTorch: there was nothing to observe"
    seen = counted(observer.journal.calls - calls, "differentiation"), counted(observer.steps - steps, "step")
    return f"{' and '.join(seen)} observed: no fault seen"


def distinct(diagnoses: Iterable[Diagnosis]) -> tuple[Diagnosis, ...]:
    """The first diagnosis of each fault."""
    return tuple({_key(diagnosis): diagnosis for diagnosis in reversed([*diagnoses])}.values())[::-1]


def _key(diagnosis: Diagnosis) -> tuple[Kind, frozenset[tuple[str, int]], str]:
    return diagnosis.kind, diagnosis.lines, "" if diagnosis.lines else diagnosis.message


def _caller() -> str | None:
    """The file of the frame that enters the block: it is the user's, wherever it lies."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] in _BETWEEN:
        frame = frame.f_back
    return None if frame is None else frame.f_code.co_filename
