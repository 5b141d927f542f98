import dataclasses
from dataclasses import dataclass

import torch

w = torch.randn(2, 2, requires_grad=True)


@dataclass(frozen=True)
class State:
    h: torch.Tensor
    c: torch.Tensor


state = State(torch.ones(2), torch.ones(2))
for _ in range(3):
    state = State(torch.tanh(state.h @ w), torch.sigmoid(state.c @ w))
    (state.h * state.c).sum().backward()
    state = State(*[getattr(state, f.name) for f in dataclasses.fields(State)])
