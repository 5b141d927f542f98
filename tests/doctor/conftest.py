"""One warm process for all tests of a worker, and a PyTorch that has compiled nothing for each test."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from autodetach.doctor.frames import Territory

from .warm import Warm

TESTS = str(Path(__file__).parents[1]) + os.sep


@pytest.fixture(scope="session")
def python() -> Iterator[Warm]:
    """Runs `python ARGS` in a child that has imported PyTorch already."""
    with Warm() as warm:
        yield warm


@pytest.fixture(scope="module", autouse=True)
def nothing_of_other_tests_is_looked_through() -> Iterator[None]:
    """What a worker holds of thousands of tests takes longer to walk than all that these make."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture(autouse=True)
def nothing_is_compiled() -> Iterator[None]:
    """What tests before have compiled is forgotten: beside compiled functions the doctor sees less."""
    if "torch._dynamo.eval_frame" in sys.modules:
        sys.modules["torch._dynamo"].reset()
    yield
    if "torch._dynamo.eval_frame" in sys.modules:
        sys.modules["torch._dynamo"].reset()


@pytest.fixture(autouse=True)
def no_other_test_is_a_part_of_the_program(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """All test files that a worker has loaded are the user's; to look through them takes longer than all else."""
    all_modules = Territory.modules
    own = str(request.path)

    def modules(self: Territory) -> list[tuple[str, ModuleType]]:
        return [(path, module) for path, module in all_modules(self) if path == own or not path.startswith(TESTS)]

    monkeypatch.setattr(Territory, "modules", modules)
