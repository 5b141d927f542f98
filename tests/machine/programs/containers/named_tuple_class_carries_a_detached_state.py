from typing import NamedTuple

import torch


class State(NamedTuple):
    h: torch.Tensor
    c: torch.Tensor = None

    def detach(self):
        return State(self.h.detach(), None if self.c is None else self.c.detach())


cell = torch.nn.LSTMCell(2, 3)
state = State(h=torch.zeros(1, 3), c=torch.zeros(1, 3))
for _ in range(3):
    state = state.detach()
    h, c = cell(torch.randn(1, 2), (state.h, state.c))
    state = State(h, c)
    state.h.sum().backward()
