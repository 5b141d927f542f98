import torch
from torch import nn


class Counted(nn.Module):
    calls = 0

    def __call__(self, x):
        self.calls += 1
        return super().__call__(x)


class Squared(Counted):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(2))
        self.square = self.scale ** 2

    def forward(self, x):
        return x * self.square


model = Squared()
for _ in range(2):
    loss = model(torch.randn(4, 2)).sum()
    loss.backward()
