"""Deep recursions have room for their frames: none is mapped and unmapped in every pass of a loop."""

from __future__ import annotations

import sys

import pytest

from autodetach.room import with_room

CALLS = 300
DEPTHS = 600


def leaf(number: int) -> int:
    return number + 1


def faults_at(depth: int) -> int:
    """The pages that are mapped anew while something is called in a loop, so many frames deep."""
    import resource

    if depth:
        return faults_at(depth - 1)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for number in range(CALLS):
        leaf(number)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


def most_faults() -> int:
    return max(faults_at(depth) for depth in range(DEPTHS))


def test_it_gives_what_the_function_gives() -> None:
    assert with_room(divmod, 7, 2) == (3, 1)
    assert with_room(sorted, [1, 2], reverse=True) == [2, 1]
    with pytest.raises(ZeroDivisionError):
        with_room(divmod, 1, 0)


@pytest.mark.skipif(
    sys.platform != "linux" or sys.version_info < (3, 11), reason="frames are kept in chunks from Python 3.11 on"
)
def test_no_depth_is_at_an_edge() -> None:
    assert most_faults() >= CALLS, "without it, some depth is"
    assert with_room(most_faults) < CALLS // 10
