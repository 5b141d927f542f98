"""Processes that do the thinking. What nobody waits for any more is ended with its process, and another stands by.

The machine is plain Python: in a thread it would hold up the conversation, and could not be stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, TypeVar

from autodetach.safe_path import safe_path

T = TypeVar("T")

PRELOADED = (
    "autodetach.again",
    "autodetach.lsp.work",
    "autodetach.machine.run",
    "autodetach.rules",
    "autodetach.codemods.tree",
)
"""What takes long to load."""

MANY_OBJECTS = 50_000
TOO_MANY_OBJECTS = 2_000_000
PAUSE = 0.5
"""New objects are looked through for cycles if there are many and nothing is asked for so many seconds, or too many."""


class WorkerDied(Exception):
    """A process ended before it answered."""


class Workers:
    """Up to `size` processes at work; `run` takes functions and arguments that can be pickled."""

    def __init__(self, size: int) -> None:
        # A server of forks starts a process in milliseconds, with everything loaded; Windows has none.
        forks = "forkserver" in multiprocessing.get_all_start_methods()
        self._context = multiprocessing.get_context("forkserver" if forks else "spawn")
        if forks:
            self._context.set_forkserver_preload(list(PRELOADED))
            with safe_path("forkserver"):
                forkserver.ensure_running()
        self.size = size
        self._turns = asyncio.Semaphore(size)
        self._threads = ThreadPoolExecutor(2 * size + 2, thread_name_prefix="autodetach-worker")
        self._ready: list[_Worker] = []
        self._busy: set[_Worker] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._closed = False

    def warm_up(self) -> None:
        """Have a process stand by."""
        if not self._closed and len(self._ready) + len(self._starting) < self.size:
            task = asyncio.ensure_future(self._start_one())
            self._starting.add(task)
            task.add_done_callback(self._starting.discard)

    async def run(self, function: Callable[..., T], *arguments: object) -> T:
        """What the function returns, or raises, in another process; when this is cancelled, the process is ended."""
        loop = asyncio.get_running_loop()
        async with self._turns:
            worker = await self._take()
            self._busy.add(worker)
            try:
                kind, result = await loop.run_in_executor(self._threads, worker.ask, function, arguments)
            except asyncio.CancelledError:
                worker.kill()
                self.warm_up()
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

    def close(self) -> None:
        """End all processes."""
        self._closed = True
        for worker in (*self._ready, *self._busy):
            worker.kill()
        self._ready.clear()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _take(self) -> _Worker:
        while self._ready:
            worker = self._ready.pop()
            if worker.is_alive():
                return worker
        if self._starting:
            await asyncio.wait(self._starting, return_when=asyncio.FIRST_COMPLETED)
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
        self._pipe, other = context.Pipe()
        self._process: BaseProcess = context.Process(target=serve, args=(other,), daemon=True)
        if context.get_start_method() == "spawn":
            with safe_path("spawn"):
                self._process.start()
        else:
            self._process.start()
        other.close()

    def ask(self, function: Callable[..., object], arguments: tuple[object, ...]) -> Any:
        self._pipe.send((function, arguments))
        return self._pipe.recv()

    def is_alive(self) -> bool:
        return self._process.is_alive()

    def kill(self) -> None:
        # The thread that waits for an answer hears the end of the pipe, which is why it is not closed here.
        self._process.kill()


def serve(pipe: Connection) -> None:
    """What a process does: answer until the pipe ends."""
    import gc
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Standard output belongs to the conversation with the editor.
    os.dup2(2, 1)
    sys.stdin = open(os.devnull)  # noqa: SIM115
    # The collector of cycles looks through all that is kept: while nobody waits, and not while somebody does.
    gc.disable()
    with contextlib.suppress(EOFError, OSError):
        while True:
            function, arguments = pipe.recv()
            try:
                answer = ("returned", function(*arguments))
            except Exception as error:
                answer = ("raised", error)
            pipe.send(answer)
            del answer
            new = gc.get_count()[0]
            if new > TOO_MANY_OBJECTS or (new > MANY_OBJECTS and not pipe.poll(PAUSE)):
                gc.collect()
