import torch
from torch import nn


class Rnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(2, 3)
        self.h0 = nn.Parameter(torch.zeros(1, 1, 3))

    def forward(self, x):
        return self.rnn(x, self.h0.expand(-1, x.size(1), -1).contiguous())[0]


model = Rnn()
for _ in range(3):
    model(torch.randn(5, 2, 2)).mean().backward()
