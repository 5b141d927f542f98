"""How long a loop has to run until what it carries has come to all that is made of it."""

from __future__ import annotations

import ast

import pytest

from autodetach.machine.delays import delay_of


@pytest.mark.parametrize(
    ("body", "passes"),
    [
        ("total += loss", 1),
        ("h, c = cell(x, (h, c))\n    out.append(h)", 1),
        ("out.append(h)\n    h = cell(x, h)", 1),
        ("out.append(b)\n    a, b = f(x, a), g(a, b)", 2),
        ("new_a = f(x, a)\n    new_b = g(a, b)\n    out.append(b)\n    a, b = new_a, new_b", 2),
        ("out.append(c)\n    c = f(b, c)\n    b = f(a, b)\n    a = f(x, a)", 3),
        ("self.c = f(self.b)\n    self.b = f(self.a)\n    self.a = f(x, self.a)", 2),
        ("if late:\n        c = b\n    b = a\n    a = f(x, a)\n    out.append(a)", 2),
        ("a = f(x)\n    b = f(a)\n    c = f(b)\n    loss = c.sum()", 1),
    ],
)
def test_longest_way_through_the_names_of_a_loop(body: str, passes: int) -> None:
    (loop,) = ast.parse(f"for x in xs:\n    {body}\n").body
    assert isinstance(loop, ast.For)
    assert delay_of(loop) == passes
