import torch
from torch import nn


class Noisy(nn.Linear):
    def __init__(self, size):
        super().__init__(size, size)
        self.last = None

    def forward(self, x):
        self.last = super().forward(x).tanh()
        return self.last


model = Noisy(2)
loss = model(torch.randn(4, 2)).sum()
loss.backward()
model(torch.randn(4, 2))
model.last.mean().backward()
model.last.mean().backward()
