from dataclasses import dataclass, replace

import torch


@dataclass(frozen=True)
class State:
    h: torch.Tensor
    step: int = 0


w = torch.randn(2, 2, requires_grad=True)
state = State(torch.ones(2))
for _ in range(3):
    h = torch.tanh(state.h @ w)
    h.sum().backward()
    state = replace(state, h=h.detach(), step=state.step + 1)
