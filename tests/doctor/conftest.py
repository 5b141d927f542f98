"""One warm process for all tests of a worker, and a PyTorch that has compiled nothing for each test."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest

from .warm import Warm


@pytest.fixture(scope="session")
def python() -> Iterator[Warm]:
    """Runs `python ARGS` in a child that has imported PyTorch already."""
    with Warm() as warm:
        yield warm


@pytest.fixture(autouse=True)
def nothing_is_compiled() -> Iterator[None]:
    """What tests before have compiled is forgotten: beside compiled functions the doctor sees less."""
    if "torch._dynamo.eval_frame" in sys.modules:
        sys.modules["torch._dynamo"].reset()
    yield
    if "torch._dynamo.eval_frame" in sys.modules:
        sys.modules["torch._dynamo"].reset()
