from collections import namedtuple

import torch

w = torch.randn(2, 2, requires_grad=True)


Pair = namedtuple("Pair", "h c")


state = Pair(torch.ones(2), torch.ones(2))
for _ in range(3):
    state = Pair(torch.tanh(state.h @ w), torch.sigmoid(state.c @ w))
    (state.h * state.c).sum().backward()
    state = Pair._make(state)
