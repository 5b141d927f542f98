"""Checks, or fixes, many files: one by one, or in several processes that take the largest first."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator, Sequence

from autodetach.finding import Problem
from autodetach.perform import run_one
from autodetach.task import Outcome, Task

# Starting a process costs as much as checking several files.
MIN_FILES_FOR_POOL = 16
MIN_BYTES_FOR_POOL = 100_000
MAX_FILES_PER_TURN = 32
MAX_BYTES_PER_TURN = 200_000
"""What a process is given at a time: little enough that none is left with much to do when the others are done."""
MAX_TWINS_PER_TURN = 128
MAX_UNCOLLECTED = 50_000
"""Objects that may be left behind by files before those that died are looked for: some five megabytes."""
LOOKS_AT_NEW_ONES = 8
"""How often these are looked for among what is new, before they are among all that has stayed: trees of imports."""


def run_all(tasks: Sequence[Task], jobs: int) -> Iterator[tuple[int, Outcome]]:
    """The outcomes of the tasks as they come, each with the number of its task, with up to `jobs` processes."""
    sizes = [_size(task) for task in tasks] if jobs > 1 and len(tasks) >= MIN_FILES_FOR_POOL else []
    if sizes and sum(sizes) >= MIN_BYTES_FOR_POOL:
        yield from _run_in_pool(tasks, sizes, jobs)
    else:
        yield from ((number, _run_and_tidy(task)) for number, task in enumerate(tasks))


def _size(task: Task) -> int:
    try:
        return os.stat(task.file.path).st_size if task.raw is None else len(task.raw)
    except (OSError, ValueError):
        return 0


def _turns(sizes: Sequence[int]) -> list[list[int]]:
    """The numbers of the tasks in turns of some size, the largest tasks first: whoever is free takes the next one."""
    turns: list[list[int]] = []
    room = 0
    for number in sorted(range(len(sizes)), key=lambda n: -sizes[n]):
        is_full = not turns or room < sizes[number] or len(turns[-1]) >= MAX_FILES_PER_TURN
        # What has the same size may be the same: see `twins`.
        is_other = not turns or sizes[number] != sizes[turns[-1][-1]] or len(turns[-1]) >= MAX_TWINS_PER_TURN
        if is_full and is_other:
            turns.append([])
            room = MAX_BYTES_PER_TURN
        turns[-1].append(number)
        room -= sizes[number]
    return turns


def _run_in_pool(tasks: Sequence[Task], sizes: Sequence[int], jobs: int) -> Iterator[tuple[int, Outcome]]:
    import concurrent.futures

    import autodetach.machine.exploring
    import autodetach.rules  # noqa: F401 - loaded once, and not in each process, where these are forked
    from autodetach.safe_path import safe_path

    turns = _turns(sizes)
    with safe_path():
        pool = concurrent.futures.ProcessPoolExecutor(min(jobs, len(turns)), initializer=_begin)
    with pool:
        try:
            with safe_path():
                futures = {pool.submit(_run_turn, [tasks[n] for n in turn]): turn for turn in turns}
            for future in concurrent.futures.as_completed(futures):
                turn = futures[future]
                try:
                    yield from zip(turn, future.result(), strict=True)
                except concurrent.futures.BrokenExecutor:
                    for task, number in ((tasks[n], n) for n in turn):
                        message = "not checked, because a process died (out of memory?); try again with -j 1"
                        yield number, Outcome(task.file, problems=(Problem(task.file.shown, message),))
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _run_turn(tasks: Sequence[Task]) -> list[Outcome]:
    return [_run_and_tidy(task) for task in tasks]


def _run_and_tidy(task: Task) -> Outcome:
    """Do a task, with Python's collector of cycles between files and not within them.

    What the machine leaves behind is full of cycles. Looked for in between, much of it would still be in use, and so be
    taken for what lasts.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        return run_one(task)
    finally:
        new, _, looks = gc.get_count()
        if new > MAX_UNCOLLECTED:
            gc.collect(1 if looks < LOOKS_AT_NEW_ONES else 2)
        if enabled:
            gc.enable()


def _begin() -> None:
    """Begin a process of the pool."""
    import signal

    # Ctrl-C reaches every process of the terminal; only the first one shall speak.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # What is there at the beginning stays: nobody has to look through it again and again.
    gc.freeze()
