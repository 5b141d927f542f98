"""What follows from the tests that were decided before."""

from __future__ import annotations

from collections.abc import Hashable

import pytest

from autodetach.machine.oracle import Oracle, Policy

SIZE, OTHER = ("size", 1), ("size", 2)
ONE, TWO, RELU = ("c", 1), ("c", 2), ("x", "torch.relu")


@pytest.mark.parametrize(
    ("known", "asked", "truth"),
    [
        pytest.param(ONE, TWO, False, id="a constant is equal to no other one"),
        pytest.param(ONE, RELU, False, id="nor to what is imported"),
        pytest.param(("t", (ONE, ONE)), ("t", (ONE, TWO)), False, id="tuples of constants"),
        pytest.param(OTHER, ("size", 3), None, id="sizes that nobody knows may all be equal"),
        pytest.param(("o", 1), ("o", 2), None, id="so may values that are not known"),
        pytest.param(ONE, OTHER, None, id="one of them may be that constant"),
        pytest.param(OTHER, ONE, None, id="a constant may be equal to it"),
        pytest.param(("t", (ONE, OTHER)), ("t", (ONE, SIZE)), None, id="tuples with something unknown"),
    ],
)
def test_equal_to_one_is_equal_to_no_other(known: Hashable, asked: Hashable, truth: bool | None) -> None:
    oracle = Oracle(Policy())
    oracle.learn(("==", ("len", 1), known), True)
    assert oracle.settled(("==", ("len", 1), asked)) is truth
    assert oracle.settled(("not", ("==", ("len", 1), asked))) is (None if truth is None else not truth)


def test_what_is_known_of_a_constant_outlasts_what_is_equal_to_it() -> None:
    oracle = Oracle(Policy())
    oracle.learn(("==", SIZE, ONE), True)
    oracle.learn(("==", SIZE, OTHER), True)
    assert oracle.settled(("==", SIZE, TWO)) is False
