"""A process that stops when it is asked to is asked again; one that does not is ended."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from autodetach.lsp import workers
from autodetach.lsp.workers import Stopped, WorkerDied, Workers, pause, preloaded, tell

Pool = Callable[[Callable[[Workers], Awaitable[None]]], None]
SOON = 20.0


def work(path: str) -> None:
    """Goes on until nobody waits, and says so in a file."""
    Path(path).write_text("begun")
    try:
        while True:
            time.sleep(0.01)
            pause()
    except Stopped:
        Path(path).write_text("stopped")
        raise


def deaf(path: str) -> None:
    Path(path).write_text("begun")
    time.sleep(60)


def count(end: int) -> int:
    for number in range(end):
        tell(number)
    return end


def not_loaded(names: list[str]) -> set[str]:
    return {*names} - {*sys.modules}


def die() -> None:
    os._exit(1)


@pytest.fixture
def pool(monkeypatch: pytest.MonkeyPatch) -> Pool:
    """Runs a test with processes of its own, which have time on a busy machine."""
    monkeypatch.setattr(workers, "PATIENCE", SOON)

    def run(test: Callable[[Workers], Awaitable[None]]) -> None:
        async def whole() -> None:
            made = Workers(2)
            try:
                await asyncio.wait_for(test(made), 3 * SOON)
            finally:
                made.close()

        asyncio.run(whole())

    return run


async def begun(path: Path, word: str = "begun") -> None:
    end = time.monotonic() + SOON
    while not path.exists() or path.read_text() != word:
        assert time.monotonic() < end
        await asyncio.sleep(0.01)


async def cancelled(task: asyncio.Future[None]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_what_is_stopped_is_asked_again(pool: Pool, tmp_path: Path) -> None:
    async def test(made: Workers) -> None:
        first = await made.run(os.getpid, about="a")
        for number in range(5):
            path = tmp_path / f"{number}"
            task = asyncio.ensure_future(made.run(work, str(path), about="a"))
            await begun(path)
            await cancelled(task)
            assert await made.run(os.getpid, about="a") == first
            await begun(path, "stopped")

    pool(test)


def test_what_is_cancelled_at_any_time_leaves_a_process_that_answers(pool: Pool, tmp_path: Path) -> None:
    async def test(made: Workers) -> None:
        first = await made.run(os.getpid, about="a")
        for number in range(40):
            task = asyncio.ensure_future(made.run(work, str(tmp_path / "file"), about="a"))
            for _ in range(number % 8):
                await asyncio.sleep(0.001 if number % 2 else 0)
            await cancelled(task)
        assert await made.run(os.getpid, about="a") == first
        assert await made.run(count, 3, about="a") == 3

    pool(test)


def test_what_does_not_stop_is_ended(pool: Pool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "PATIENCE", 0.1)

    async def test(made: Workers) -> None:
        first = await made.run(os.getpid, about="a")
        task = asyncio.ensure_future(made.run(deaf, str(tmp_path / "file"), about="a"))
        await begun(tmp_path / "file")
        await cancelled(task)
        assert await made.run(os.getpid, about="a") != first

    pool(test)


def test_each_file_has_its_process(pool: Pool, tmp_path: Path) -> None:
    async def test(made: Workers) -> None:
        task = asyncio.ensure_future(made.run(work, str(tmp_path / "file"), about="a"))
        await begun(tmp_path / "file")
        other = await made.run(os.getpid, about="b")
        await cancelled(task)
        mine = await made.run(os.getpid, about="a")
        assert mine != other
        for about, process in (("b", other), ("a", mine), ("a", mine), ("b", other)):
            assert await made.run(os.getpid, about=about) == process

    pool(test)


def test_what_is_told_is_heard_before_the_answer(pool: Pool) -> None:
    async def test(made: Workers) -> None:
        heard: list[int] = []
        assert await made.run(count, 5, heard=heard.append) == 5
        assert heard == list(range(5))
        assert await made.run(count, 5) == 5

    pool(test)


def test_a_process_that_dies_is_told(pool: Pool) -> None:
    async def test(made: Workers) -> None:
        with pytest.raises(WorkerDied):
            await made.run(die, about="a")
        assert await made.run(count, 1, about="a") == 1

    pool(test)


@pytest.mark.skipif("forkserver" not in multiprocessing.get_all_start_methods(), reason="each process loads for itself")
def test_a_process_begins_with_everything(pool: Pool) -> None:
    names = preloaded()
    assert {"autodetach.machine.exploring", "autodetach.candidates.carried", "autodetach.codemods.tree"} < {*names}

    async def test(made: Workers) -> None:
        assert await made.run(not_loaded, names) == set()

    pool(test)
