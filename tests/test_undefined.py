"""Names that nothing binds, as a file that Python would refuse at run time has them."""

from __future__ import annotations

import pytest

from autodetach.undefined import undefined_names


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("print(loss)\n", {"loss"}),
        ("loss = 1\ndef f():\n    return loss\n", set()),
        ("def f():\n    def closure():\n        loss = 1\n        return loss\n    return loss\n", {"loss"}),
        ("def f():\n    loss = 1\n    def closure():\n        return loss\n    return closure\n", set()),
        ("def f():\n    global loss\n    loss = 1\nprint(loss)\n", set()),
        ("import torch.nn as nn\nfrom math import pi as half\nprint(nn, half, __name__, len)\n", set()),
        ("class A:\n    size = 1\n    def f(self):\n        return size\n", {"size"}),
        ("print([x for x in range(3)], x)\n", {"x"}),
        ("try:\n    pass\nexcept ValueError as error:\n    print(error)\n", set()),
    ],
)
def test_what_nothing_binds(code: str, names: set[str]) -> None:
    assert undefined_names(code) == names
