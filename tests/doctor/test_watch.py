"""`autodetach.watch()` on a real PyTorch."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import torch

import autodetach

ROOT = Path(__file__).parent.parent.parent


def leak(passes: int = 9) -> list[torch.Tensor]:
    model = torch.nn.Linear(4, 1)
    losses = []
    for _ in range(passes):
        loss: Any = model(torch.ones(8, 4)).pow(2).mean()
        loss.backward()
        losses.append(loss)
    return losses


def healthy(passes: int = 9) -> list[float]:
    return [float(loss) for loss in leak(0)] + [step(torch.nn.Linear(4, 1)) for _ in range(passes)]


def step(model: torch.nn.Module) -> float:
    loss: Any = model(torch.ones(8, 4)).pow(2).mean()
    loss.backward()
    return float(loss.detach())


def walk_twice() -> None:
    weight: Any = torch.ones(3, requires_grad=True)
    prior = weight.exp()
    prior.sum().backward()
    (prior * 2).sum().backward()


def line_of(text: str) -> int:
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip() == text)


def state_of_torch() -> tuple[Any, ...]:
    untyped: Any = torch
    optimizer = sys.modules["torch.optim.optimizer"]
    return (
        untyped.autograd._engine_run_backward,
        torch.nn.Module.__call__,
        torch.compile,
        tuple(optimizer._global_optimizer_post_hooks),
        tuple(untyped.overrides._get_current_function_mode_stack()),
    )


@pytest.fixture(autouse=True)
def _much_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Other tests have modules full of data, where looking takes its time."""
    monkeypatch.setattr("autodetach.doctor.budget.FREE_SECONDS", 60.0)


@pytest.fixture(autouse=True)
def _torch_is_as_it_was() -> Iterator[None]:
    before = state_of_torch()
    yield
    assert state_of_torch() == before


def test_a_list_of_losses(capsys: pytest.CaptureFixture[str]) -> None:
    with autodetach.watch() as watched:
        assert watched.active
        assert state_of_torch()[0] is not torch.autograd.backward
        leak()
    assert not watched.active
    (diagnosis,) = watched.diagnoses
    assert diagnosis.kind is autodetach.Kind.GROWTH
    assert diagnosis.binding is not None and diagnosis.binding.path == "losses"
    assert diagnosis.site == autodetach.Site(__file__, line_of("losses.append(loss)"), "leak")
    assert diagnosis.nodes > diagnosis.first_nodes > 0
    assert diagnosis.nodes_per_pass == 4  # the mean, the power, and two of the linear layer
    with pytest.raises(dataclasses.FrozenInstanceError):
        diagnosis.nodes = 0
    told = capsys.readouterr()
    assert told.out == ""
    assert "`losses` (in `leak`) keeps the autograd graph of every pass" in told.err
    assert told.err.splitlines()[-2].startswith("holder  nodes at first  at last  per pass  saved tensors  filled at")
    assert told.err.splitlines()[-1].startswith(f"losses  {diagnosis.first_nodes:>14}  {diagnosis.nodes:>7}")


def test_nothing_to_say(capsys: pytest.CaptureFixture[str]) -> None:
    with autodetach.watch() as watched:
        healthy()
    assert not watched.diagnoses
    assert capsys.readouterr().err == "autodetach: 9 differentiations and 0 steps observed: no fault seen\n"


def test_quiet(capsys: pytest.CaptureFixture[str]) -> None:
    with autodetach.watch(quiet=True) as watched:
        leak()
    assert len(watched.diagnoses) == 1
    assert capsys.readouterr() == ("", "")


def test_an_error_passes_with_a_note(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError, match="backward through the graph a second time") as caught:  # noqa: SIM117
        with autodetach.watch() as watched:
            walk_twice()
    (diagnosis,) = watched.diagnoses
    assert diagnosis.kind is autodetach.Kind.FREED
    assert diagnosis.binding is not None and diagnosis.binding.path == "prior"
    assert (__file__, line_of("prior = weight.exp()")) in diagnosis.lines
    if sys.version_info >= (3, 11):
        (note,) = caught.value.__notes__
        assert note.startswith("autodetach: `prior` carries a graph that line ")
    assert "freed graph: `prior` carries" in capsys.readouterr().err


def test_an_error_of_the_program_itself(capsys: pytest.CaptureFixture[str]) -> None:
    error = ValueError("mine")
    with pytest.raises(ValueError, match="mine") as caught, autodetach.watch():
        raise error
    assert caught.value is error
    assert not hasattr(error, "__notes__")
    assert capsys.readouterr().err == ""


def test_a_fault_of_ours_hides_no_error(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fail(self: object) -> None:
        raise TypeError("ours")

    monkeypatch.setattr("autodetach.doctor.verdict.results", fail)
    with pytest.raises(ValueError, match="mine"), autodetach.watch():
        raise ValueError("mine")
    assert capsys.readouterr().err == "autodetach: a look has failed, and the run went on (TypeError: ours)\n"


def test_diagnoses_during_the_block() -> None:
    with autodetach.watch(quiet=True) as watched:
        assert not watched.diagnoses
        losses = leak()
        assert [diagnosis.kind for diagnosis in watched.diagnoses] == [autodetach.Kind.GROWTH]
        with pytest.raises(RuntimeError):
            walk_twice()
        during = watched.diagnoses
        assert autodetach.Kind.FREED in {diagnosis.kind for diagnosis in during}
    assert watched.diagnoses == during
    assert losses


def test_one_watch_again() -> None:
    watched = autodetach.watch(quiet=True)
    for _ in range(2):
        with watched:
            leak()
        assert len(watched.diagnoses) == 1
    with watched:
        healthy()
    assert not watched.diagnoses


def test_one_watch_inside_itself_is_refused() -> None:
    with autodetach.watch(quiet=True) as watched:
        with pytest.raises(RuntimeError, match="active already"), watched:
            pass
        leak()
    assert len(watched.diagnoses) == 1


def test_an_outer_block_does_not_repeat_what_an_inner_one_has_told(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(RuntimeError) as caught, autodetach.watch() as outer, autodetach.watch() as inner:
        walk_twice()
    assert len(inner.diagnoses) == len(outer.diagnoses) == 1
    assert capsys.readouterr().err.count("freed graph:") == 1
    if sys.version_info >= (3, 11):
        assert len(caught.value.__notes__) == 1
    with autodetach.watch() as outer:
        with autodetach.watch() as inner:
            leak()
        capsys.readouterr()
    assert [d.lines for d in inner.diagnoses] == [d.lines for d in outer.diagnoses]
    assert "growing" not in capsys.readouterr().err


def test_in_another_thread() -> None:
    found: list[autodetach.Diagnosis] = []

    def work() -> None:
        with autodetach.watch(quiet=True) as watched:
            leak()
        found.extend(watched.diagnoses)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert [diagnosis.kind for diagnosis in found] == [autodetach.Kind.GROWTH]
    (site,) = [diagnosis.site for diagnosis in found]
    assert site == autodetach.Site(__file__, line_of("losses.append(loss)"), "leak")


def test_blocks_that_end_in_the_order_in_which_they_began() -> None:
    before = state_of_torch()
    first, second = autodetach.watch(quiet=True), autodetach.watch(quiet=True)
    entered, left = threading.Event(), threading.Event()

    def work() -> None:
        with second:
            entered.set()
            assert left.wait(60)
            leak()

    thread = threading.Thread(target=work)
    with first:
        thread.start()
        assert entered.wait(60)
        leak()
    assert state_of_torch() != before
    left.set()
    thread.join()
    assert state_of_torch() == before
    assert len(first.diagnoses) == len(second.diagnoses) == 1


def test_what_others_put_on_top_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    original: Any = torch.nn.Module.__call__
    calls = []
    with autodetach.watch(quiet=True):
        ours = torch.nn.Module.__call__

        def theirs(module: Any, *args: Any, **kwargs: Any) -> Any:
            calls.append(module)
            return ours(module, *args, **kwargs)

        monkeypatch.setattr(torch.nn.Module, "__call__", theirs)
    assert torch.nn.Module.__call__ is theirs
    with autodetach.watch(quiet=True) as watched:
        leak()
    assert len(watched.diagnoses) == 1
    assert len(calls) == 9
    monkeypatch.undo()
    torch.nn.Module.__call__ = original  # type: ignore[method-assign]


def test_a_function(capsys: pytest.CaptureFixture[str]) -> None:
    watched = autodetach.watch()

    @watched
    def train(depth: int) -> int:
        """Trains."""
        if depth:
            return train(depth - 1) + 1
        leak()
        return 0

    assert (train.__name__, train.__doc__) == ("train", "Trains.")
    assert train(2) == 2
    assert len(watched.diagnoses) == 1
    assert capsys.readouterr().err.count("growing graph") == 1
    assert train(0) == 0
    assert capsys.readouterr().err.count("growing graph") == 1


def test_a_coroutine() -> None:
    watched = autodetach.watch(quiet=True)

    @watched
    async def train() -> int:
        before = state_of_torch()
        await asyncio.sleep(0)
        leak()
        assert state_of_torch()[:4] == before[:4]
        return 3

    assert asyncio.run(train()) == 3
    assert len(watched.diagnoses) == 1


def test_a_generator() -> None:
    watched = autodetach.watch(quiet=True)

    @watched
    def train() -> Iterator[int]:
        yield 1
        leak()
        yield 2

    assert list(train()) == [1, 2]
    assert len(watched.diagnoses) == 1


def test_an_asynchronous_generator_is_refused() -> None:
    async def train() -> Any:
        yield 1

    with pytest.raises(TypeError, match="asynchronous generator"):
        autodetach.watch()(train)


def test_an_exit_stack_is_not_taken_for_the_user() -> None:
    with ExitStack() as stack:
        watched = stack.enter_context(autodetach.watch(quiet=True))
        leak()
    assert len(watched.diagnoses) == 1


def test_unknown_names() -> None:
    with pytest.raises(AttributeError, match="no attribute 'wach'"):
        autodetach.wach  # noqa: B018
    assert all(getattr(autodetach, name) is not None for name in autodetach.__all__)


# In processes of their own: when PyTorch is imported.


def python(code: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, env=environment
    )


def test_importing_is_free() -> None:
    ran = python("import sys; before = set(sys.modules); import autodetach; print(*set(sys.modules) - before)")
    assert set(ran.stdout.split()) <= {"autodetach", "__future__"}, ran.stderr


def test_pytorch_that_is_imported_in_the_block() -> None:
    ran = python(
        "import sys, autodetach\n"
        "with autodetach.watch() as watched:\n"
        "    assert 'torch' not in sys.modules\n"
        "    import torch\n"
        "    assert torch.autograd._engine_run_backward is not torch.autograd.graph._engine_run_backward\n"
        "    losses = []\n"
        "    for _ in range(9):\n"
        "        loss = torch.ones(3, requires_grad=True).exp().sum()\n"
        "        loss.backward()\n"
        "        losses.append(loss)\n"
        "original = torch.autograd.graph._engine_run_backward\n"
        "assert torch.autograd._engine_run_backward is original\n"
        "print([d.binding.path for d in watched.diagnoses])\n"
    )
    assert ran.stdout == "['losses']\n", ran.stderr
    assert "growing graph: `losses` (at module level)" in ran.stderr


def test_pytorch_that_is_imported_behind_the_block() -> None:
    ran = python(
        "import autodetach\n"
        "with autodetach.watch():\n"
        "    pass\n"
        "import torch\n"
        "assert torch.autograd._engine_run_backward is torch.autograd.graph._engine_run_backward\n"
    )
    assert (ran.returncode, ran.stdout) == (0, "")
    assert ran.stderr == "autodetach: the program has not imported PyTorch: there was nothing to observe\n"
