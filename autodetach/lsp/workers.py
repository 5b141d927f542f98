"""Processes that do the thinking. What nobody waits for any more is stopped, so that its process can do the next thing.

The machine is plain Python: in a thread it would hold up the conversation, and could not be stopped. A process knows
much about what it has looked at before, so it is ended only if it does not stop by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pkgutil import iter_modules
from typing import Any, TypeVar

import autodetach
from autodetach.safe_path import safe_path

T = TypeVar("T")

FOLDERS = ("machine", "view", "candidates", "codemods", "rules", "proving", "incremental")
"""Where everything is loaded before anything is asked: on the command line, it is with the first that needs it."""

PATIENCE = 0.5
"""Seconds that a process has to stop what it does."""
MANY_OBJECTS = 50_000
TOO_MANY_OBJECTS = 2_000_000
PAUSE = 0.5
"""New objects are looked through for cycles if there are many and nothing is asked for so many seconds, or too many."""


def preloaded() -> list[str]:
    """The names of the modules that a process shall have when it begins."""
    home = os.path.dirname(autodetach.__file__)
    found = ((folder, module.name) for folder in FOLDERS for module in iter_modules([os.path.join(home, folder)]))
    return ["autodetach.lsp.work", *(f"autodetach.{folder}.{name}" for folder, name in found)]


class WorkerDied(Exception):
    """A process ended before it answered."""


class Stopped(BaseException):
    """Nobody waits any more for what this process does."""


class Workers:
    """Up to `size` processes at work; `run` takes functions and arguments that can be pickled."""

    def __init__(self, size: int) -> None:
        # A server of forks starts a process in milliseconds, with everything loaded; Windows has none.
        forks = "forkserver" in multiprocessing.get_all_start_methods()
        self._context = multiprocessing.get_context("forkserver" if forks else "spawn")
        if forks:
            self._context.set_forkserver_preload(preloaded())
            with safe_path("forkserver"):
                forkserver.ensure_running()
        self.size = size
        self._turns = asyncio.Semaphore(size)
        self._threads = ThreadPoolExecutor(2 * size + 2, thread_name_prefix="autodetach-worker")
        self._ready: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._stopping: dict[asyncio.Task[None], _Worker] = {}
        self._closed = False

    def warm_up(self) -> None:
        """Have a process stand by."""
        if not self._closed and len(self._ready) + len(self._starting) + len(self._stopping) < self.size:
            task = asyncio.ensure_future(self._start_one())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def run(
        self,
        function: Callable[..., T],
        *arguments: object,
        about: str = "",
        heard: Callable[[Any], None] | None = None,
    ) -> T:
        """What the function returns, or raises, in another process; when this is cancelled, it is stopped there.

        If there is a process that was asked the last time `about` the same, it is asked again. `heard` is called with
        what the function tells while it runs.
        """
        loop = asyncio.get_running_loop()

        def told(value: Any) -> None:
            if heard is not None:
                loop.call_soon_threadsafe(heard, value)

        async with self._turns:
            worker = await self._take(about)
            worker.about = about
            self._busy.add(worker)
            asked = loop.run_in_executor(self._threads, worker.ask, function, arguments, told)
            try:
                kind, result = await asyncio.shield(asked)
            except asyncio.CancelledError:
                self._stop(worker, asked)
                raise
            except (EOFError, OSError) as error:
                worker.kill()
                self.warm_up()
                raise WorkerDied("the process that analyses died (out of memory?)") from error
            finally:
                self._busy.discard(worker)
            self._ready.append(worker)
            if kind == "raised":
                raise result
            answer: T = result
            return answer

    def _stop(self, worker: _Worker, asked: asyncio.Future[Any]) -> None:
        task = asyncio.ensure_future(self._stopped(worker, asked))
        self._stopping[task] = worker
        task.add_done_callback(lambda done: self._stopping.pop(done, None))

    async def _stopped(self, worker: _Worker, asked: asyncio.Future[Any]) -> None:
        """Have a process stop, or end it."""
        try:
            worker.stop()
            await asyncio.wait_for(asked, PATIENCE)
        except (EOFError, OSError, asyncio.TimeoutError):
            worker.kill()
        else:
            worker.is_stopped = False
            self._ready.append(worker)

    def close(self) -> None:
        """End all processes."""
        self._closed = True
        for worker in (*self._ready, *self._busy, *self._stopping.values()):
            worker.kill()
        self._ready.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _take(self, about: str) -> _Worker:
        while any(worker.about == about for worker in self._stopping.values()):
            # It will know more than any other.
            await asyncio.wait(self._stopping, return_when=asyncio.FIRST_COMPLETED)
        self._ready.sort(key=lambda worker: worker.about == about)
        while self._ready:
            worker = self._ready.pop()
            if worker.is_alive():
                return worker
        waiting = {*self._starting, *self._stopping}
        if waiting:
            await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            if self._ready:
                return self._ready.pop()
        return await self._start()

    async def _start_one(self) -> None:
        worker = await self._start()
        if self._closed:
            worker.kill()
        else:
            self._ready.append(worker)

    async def _start(self) -> _Worker:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, _Worker, self._context)


class _Worker:
    """A process, and the pipe to it."""

    def __init__(self, context: Any) -> None:
        self.about = ""
        self.is_stopped = False
        self._is_asked = False
        self._lock = threading.Lock()
        self._pipe, other = context.Pipe()
        self._process: BaseProcess = context.Process(target=serve, args=(other,), daemon=True)
        if context.get_start_method() == "spawn":
            with safe_path("spawn"):
                self._process.start()
        else:
            self._process.start()
        other.close()

    def ask(self, function: Callable[..., object], arguments: tuple[object, ...], told: Callable[[Any], None]) -> Any:
        """How the function ends, and with what. Raises EOFError and OSError."""
        with self._lock:
            if self.is_stopped:
                return "stopped", None
            self._pipe.send((function, arguments))
            self._is_asked = True
        while True:
            kind, value = self._pipe.recv()
            if kind != "told":
                self._is_asked = False
                return kind, value
            told(value)

    def stop(self) -> None:
        """Have the process end what it does, or not begin; `ask` then returns."""
        with self._lock:
            self.is_stopped = True
            if self._is_asked:
                self._pipe.send(None)

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        # The thread that waits for an answer hears the end of the pipe, which is why it is not closed here.
        self._process.kill()


_pipe: Connection | None = None
_afterwards: list[Callable[[], None]] = []


def tell(value: object) -> None:
    """Have the process that asked know of something while this one goes on."""
    if _pipe is not None:
        _pipe.send(("told", value))


def pause() -> None:
    """Called by what takes long. Raises Stopped if nobody waits any more."""
    if _pipe is not None and _pipe.poll():
        raise Stopped


def afterwards(function: Callable[[], None]) -> None:
    """Have something done once the answer is sent."""
    _afterwards.append(function)


def serve(pipe: Connection) -> None:
    """What a process does: answer until the pipe ends."""
    import gc
    import signal

    global _pipe
    _pipe = pipe
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Standard output belongs to the conversation with the editor.
    os.dup2(2, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115
    # The collector of cycles looks through all that is kept: while nobody waits, and not while somebody does.
    gc.disable()
    gc.freeze()
    with contextlib.suppress(EOFError, OSError):
        while True:
            message = pipe.recv()
            if message is None:
                continue  # what was to be stopped had ended
            function, arguments = message
            try:
                answer = ("returned", function(*arguments))
            except Stopped:
                answer = ("stopped", None)
            except Exception as error:
                answer = ("raised", error)
            pipe.send(answer)
            del answer
            while _afterwards:
                _afterwards.pop()()
            new = gc.get_count()[0]
            if new > TOO_MANY_OBJECTS or (new > MANY_OBJECTS and not pipe.poll(PAUSE)):
                gc.collect()
