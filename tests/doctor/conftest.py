"""One warm process for all tests of a worker."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .warm import Warm


@pytest.fixture(scope="session")
def python() -> Iterator[Warm]:
    """Runs `python ARGS` in a child that has imported PyTorch already."""
    with Warm() as warm:
        yield warm
