"""Many files, one after the other or side by side."""

from __future__ import annotations

import concurrent.futures
from pathlib import Path

import fake_checker
import pytest

from autodetach import perform
from autodetach import pool as pools
from autodetach.checks import CheckOptions
from autodetach.disk.files import FoundFile
from autodetach.finding import Problem
from autodetach.perform import run_one
from autodetach.pool import MIN_FILES_FOR_POOL
from autodetach.runner import run
from autodetach.task import Outcome, Task


@pytest.fixture(autouse=True)
def _fake(monkeypatch: pytest.MonkeyPatch) -> None:
    fake_checker.install(monkeypatch.setattr)


def task(raw: bytes, *, unsafe: bool | None = None, options: CheckOptions | None = None) -> Task:
    return Task(FoundFile("/x/a.py", "a.py"), options or CheckOptions(), unsafe, raw)


def only_problem(outcome: Outcome) -> tuple[str, int | None]:
    (problem,) = outcome.problems
    assert problem.path == "a.py"
    assert not outcome.findings
    return problem.message, problem.line


def test_a_clean_file_leaves_nothing_behind() -> None:
    assert run_one(task(b"x = 1\n")) == Outcome(FoundFile("/x/a.py", "a.py"))
    assert run_one(task(b"x = 1\n", unsafe=True)) == Outcome(FoundFile("/x/a.py", "a.py"))


def test_checking_finds_and_changes_nothing() -> None:
    outcome = run_one(task(b"LEAK\nRISK\n"))
    assert [finding.code for finding in outcome.findings] == ["AD101", "AD201"]
    assert outcome.source is not None
    assert outcome.source.raw == b"LEAK\nRISK\n"
    assert not outcome.edits


@pytest.mark.parametrize(
    ("unsafe", "fixed", "left"), [(False, b"DONE\nRISK\n", ["AD201"]), (True, b"DONE\nDONE\n", [])]
)
def test_fixing(unsafe: bool, fixed: bytes, left: list[str]) -> None:
    outcome = run_one(task(b"LEAK\nRISK\n", unsafe=unsafe))
    assert outcome.source is not None
    assert outcome.original is not None
    assert outcome.original.apply(outcome.edits) == outcome.source.raw == fixed
    assert [finding.code for finding in outcome.findings] == left


def test_what_cannot_be_read_becomes_a_problem() -> None:
    assert only_problem(run_one(task(b"a = 1\nb = '\xff'\n")))[1] == 2
    assert only_problem(run_one(task(b"def f(:\n"))) == ("syntax error: invalid syntax", 1)
    assert only_problem(run_one(task(b"x\nprint 'a'\n")))[0].startswith("this is Python 2")
    missing = run_one(Task(FoundFile("/nowhere/a.py", "a.py"), CheckOptions()))
    assert only_problem(missing) == ("no such file or folder", None)


@pytest.mark.parametrize("unsafe", [None, True])
def test_a_crash_becomes_one_line(unsafe: bool | None) -> None:
    message, line = only_problem(run_one(task(b"CRASH\n", unsafe=unsafe)))
    assert message.startswith("internal error in check, line ")
    assert message.endswith(": RuntimeError: boom and bang; please report it")
    assert line is None


def test_an_interrupt_is_no_crash(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(perform, "check", interrupt)
    with pytest.raises(KeyboardInterrupt):
        run_one(task(b"x\n"))


def tasks(folder: Path, count: int) -> list[Task]:
    result = []
    for number in range(count):
        path = folder / f"{number}.py"
        path.write_bytes([b"x = 1\n", b"LEAK\nRISK\n", b"'\xff'\n", b"f(:\n"][number % 4])
        result.append(Task(FoundFile(str(path), path.name), CheckOptions(), unsafe=True))
    return result


def described(outcomes: list[Outcome]) -> list[object]:
    return [(o.file, o.findings, o.problems, o.edits, o.source and o.source.raw) for o in outcomes]


def test_several_processes_give_the_same_in_the_same_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import multiprocessing

    # The fake checker has to reach the other processes.
    context = multiprocessing.get_context("fork")
    pool = concurrent.futures.ProcessPoolExecutor
    started = []

    def pool_of_forks(workers: int, **options: object) -> concurrent.futures.ProcessPoolExecutor:
        started.append(workers)
        return pool(workers, mp_context=context, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", pool_of_forks)
    monkeypatch.setattr(pools, "MAX_FILES_PER_TURN", 8)
    monkeypatch.setattr(pools, "MIN_BYTES_FOR_POOL", 0)
    many = tasks(tmp_path, MIN_FILES_FOR_POOL + 5)
    one_by_one = described(list(run(many, 1)))
    assert not started
    assert described(list(run(many, 2))) == one_by_one
    assert started == [2]


def test_a_few_files_start_no_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise AssertionError("a pool was started")

    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", fail)
    list(run(tasks(tmp_path, MIN_FILES_FOR_POOL), 8))
    monkeypatch.setattr(pools, "MIN_BYTES_FOR_POOL", 0)
    assert len(list(run(tasks(tmp_path, MIN_FILES_FOR_POOL - 1), 8))) == MIN_FILES_FOR_POOL - 1
    with pytest.raises(AssertionError, match="a pool was started"):
        list(run(tasks(tmp_path, MIN_FILES_FOR_POOL), 8))


class DeadPool:
    """A pool of which every process died."""

    def __init__(self, *_: object, **__: object) -> None:
        pass

    def __enter__(self) -> DeadPool:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def submit(self, *_: object) -> concurrent.futures.Future[list[Outcome]]:
        future: concurrent.futures.Future[list[Outcome]] = concurrent.futures.Future()
        future.set_exception(concurrent.futures.BrokenExecutor())
        return future


def test_processes_that_die_leave_a_problem_for_each_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(concurrent.futures, "ProcessPoolExecutor", DeadPool)
    monkeypatch.setattr(pools, "MIN_BYTES_FOR_POOL", 0)
    many = tasks(tmp_path, MIN_FILES_FOR_POOL)
    outcomes = list(run(many, 2))
    assert [outcome.file for outcome in outcomes] == [task.file for task in many]
    message = "not checked, because a process died (out of memory?); try again with -j 1"
    assert [outcome.problems for outcome in outcomes] == [(Problem(task.file.shown, message),) for task in many]


def test_turns_are_small_and_keep_what_may_be_the_same_together() -> None:
    sizes = [5000] * 50 + [70_000] * 5 + [10] * 400
    turns = pools._turns(sizes)
    assert sorted(number for turn in turns for number in turn) == list(range(len(sizes)))
    assert max(map(len, turns)) <= pools.MAX_TWINS_PER_TURN
    assert {tuple(sorted({sizes[n] for n in turn})) for turn in turns[:2]} == {(70_000,), (5000,)}
    assert [len(turn) for turn in pools._turns([100 - n // 2 for n in range(80)])] == [32, 32, 16]
