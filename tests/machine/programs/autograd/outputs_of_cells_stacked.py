import torch
from torch import nn


class Rnn(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.cell, self.size = nn.LSTMCell(2, size), size

    def forward(self, xs, state=None):
        if state is None:
            state = (torch.zeros(xs.size(1), self.size),) * 2
        outputs = []
        for x in xs:
            state = self.cell(x, state)
            outputs.append(state[0])
        return torch.stack(outputs), state


rnn = Rnn(3)
for _ in range(2):
    out, state = rnn(torch.randn(4, 2, 2))
    out.mean().backward()
out, state = rnn(torch.randn(4, 2, 2), state)
out.mean().backward()
