"""What numpy draws without a size is a number of Python, and an array where one is given."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from autodetach.machine.numpy_draws import OF_SIZES, SIZED_AT

GIVEN: dict[str, tuple[float, ...]] = {
    "binomial": (3, 0.5), "geometric": (0.5,), "hypergeometric": (3, 3, 3), "logseries": (0.5,),
    "negative_binomial": (3, 0.5), "randint": (1, 5), "triangular": (0.0, 1.0, 2.0), "zipf": (2.0,),
}  # fmt: skip
"""What is not drawn with 1.5 for each argument."""
SOURCES: list[Any] = [np.random, np.random.RandomState(0), np.random.default_rng(0)]
ROWS = [(name, at) for at, names in SIZED_AT.items() for name in names.split()]


@pytest.mark.parametrize(("name", "at"), ROWS)
def test_a_number_is_drawn_where_no_size_is_given(name: str, at: int) -> None:
    drawing = [getattr(source, name) for source in SOURCES if hasattr(source, name)]
    given = GIVEN.get(name, (1.5,) * at)
    assert len(given) == at
    assert drawing
    for draw in drawing:
        assert type(draw(*given)) in (int, float)
        assert type(draw(*given, size=None)) in (int, float)
        assert np.shape(draw(*given, 4)) == np.shape(draw(*given, size=(4,))) == (4,)


@pytest.mark.parametrize("name", OF_SIZES)
def test_a_number_is_drawn_where_sizes_are_left_out(name: str) -> None:
    for source in SOURCES[:2]:
        assert type(getattr(source, name)()) is float
        assert np.shape(getattr(source, name)(2, 3)) == (2, 3)
