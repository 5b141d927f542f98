import dataclasses

import torch


@dataclasses.dataclass
class State:
    h: torch.Tensor
    step: int = 0


w = torch.randn(2, 2, requires_grad=True)
state = State(torch.ones(2))
for _ in range(3):
    state = dataclasses.replace(state, h=torch.tanh(state.h @ w), step=state.step + 1)
    state.h.sum().backward()
