from collections import namedtuple

import torch

State = namedtuple("State", ["h", "c"])
cell = torch.nn.LSTMCell(2, 3)
state = State(torch.zeros(1, 3), torch.zeros(1, 3))
for _ in range(2):
    state = State(*cell(torch.randn(1, 2), state))
    state.h.sum().backward()
