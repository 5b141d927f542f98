from dataclasses import dataclass

import torch

w = torch.randn(2, 2, requires_grad=True)


@dataclass(frozen=True)
class State:
    h: torch.Tensor
    c: torch.Tensor


class Named(State):
    def cut(self):
        return type(self)(self.h.detach(), c=self.c.detach())


state = Named(torch.ones(2), torch.ones(2))
for step in range(3):
    state = Named(torch.tanh(state.h @ w), torch.sigmoid(state.c @ w))
    (state.h * state.c).sum().backward()
    state = state.cut() if step == 0 else state
