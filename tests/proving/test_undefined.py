"""Names that nothing binds, as a file that Python would refuse at run time has them."""

from __future__ import annotations

import pytest

from autodetach.checker import check
from autodetach.checks import CheckOptions
from autodetach.proving.undefined import undefined_names
from autodetach.source import Source


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


def test_what_python_parses_and_does_not_compile_is_told_and_not_repaired() -> None:
    code = (
        "import torch\nnet = torch.nn.Linear(2, 1)\ntotal = 0\n"
        "for _ in range(100):\n    loss = net(torch.randn(2)).mean()\n    loss.backward()\n    total += loss\n"
        "print(total)\n"
    )
    (repaired,) = check(Source.from_bytes(code.encode(), "a.py"), CheckOptions()).findings
    assert repaired.fix is not None
    (told,) = check(Source.from_bytes(f"{code}nonlocal total\n".encode(), "a.py"), CheckOptions()).findings
    assert told.fix is None
