import torch
from torch import nn


class Straight(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sign()

    @staticmethod
    def backward(ctx, grad):
        return grad


class Binary(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 2)

    def forward(self, x):
        return Straight.apply(self.fc(x))


model = Binary()
codes = model(torch.randn(4, 2))
for k in range(2):
    (codes * k).sum().backward()
