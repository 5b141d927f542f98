"""Whether an optimizer may leave some of its parameters as they are: by a rate of zero, or one that nobody knows."""

from __future__ import annotations

import ast

import pytest
from calls import calls_of

from autodetach.machine.learning_rates import may_stand_still

STANDING = (
    "SGD(net.parameters(), lr=0)",
    "SGD(net.parameters(), 0.0)",
    "SGD([{'params': a, 'lr': 0.0}, {'params': b}], lr=0.1)",
    "SGD([dict(params=a, lr=0.0), dict(params=b)], lr=0.1)",
    "SGD([{'params': a, 'lr': rates['a']}, {'params': b}], lr=0.1)",
    "zero = 0.0\nSGD([{'params': a, 'lr': zero}, {'params': b}], lr=0.1)",
    "def both(rate):\n    return SGD(a, lr=rate), SGD(b, lr=0.1)",
    "for group in optimizer.param_groups:\n    group['lr'] = 0",
    "slow = SGD([{'params': a}, {'params': b}], lr=0.1)\ntorch.optim.lr_scheduler.LambdaLR(slow, [one, other])",
)
MOVING = (
    "SGD(net.parameters(), lr=0.1)",
    "SGD(net.parameters(), lr=args.lr)",
    "rate = 0.1\nSGD([{'params': a, 'lr': rate}, {'params': b}], lr=0.1)",
    "slow = SGD(net.parameters(), lr=0.1)\ntorch.optim.lr_scheduler.StepLR(slow, 3)",
)


@pytest.mark.parametrize("program", STANDING)
def test_parameters_may_be_left_as_they_are(program: str) -> None:
    assert may_stand_still(ast.parse(program))


@pytest.mark.parametrize("program", MOVING)
def test_all_parameters_move(program: str) -> None:
    assert not may_stand_still(ast.parse(program))


def test_calls_grow_with_length() -> None:
    def calls(count: int) -> int:
        tree = ast.parse("".join(f"rate{k} = 0.1\nSGD(net.parameters(), lr=rate{k})\n" for k in range(count)))
        return calls_of(lambda: may_stand_still(tree))

    assert calls(80) < 2.2 * calls(40)
