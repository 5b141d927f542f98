import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.clone()

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


features, label, domain = nn.Linear(2, 2), nn.Linear(2, 1), nn.Linear(2, 1)
for step in range(10):
    h = features(torch.randn(4, 2)).tanh()
    loss = label(h).pow(2).mean() + domain(Reverse.apply(h, step / 10)).pow(2).mean()
    loss.backward()
