"""Generated programs, a few; and the layouts are what they are said to be."""

from __future__ import annotations

import ast
from random import Random

import pytest

from .programs import laid_out, look, written
from .promises import parsed


@pytest.mark.parametrize("number", range(12))
def test_repairs_of_generated_programs(number: int) -> None:
    assert look(f"7/{number}") == []


def test_another_layout_is_the_same_program() -> None:
    kinds = set()
    for number in range(60):
        random = Random(f"layout/{number}")
        program = written(random)
        other = laid_out(program, random)
        assert ast.dump(parsed(other)) == ast.dump(ast.parse(program))
        kinds |= {mark for mark in (b"\t", b"\r\n", b"\xef\xbb\xbf", b"latin", b"# above") if mark in other}
    assert len(kinds) == 5
