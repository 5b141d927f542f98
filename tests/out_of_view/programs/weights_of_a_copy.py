import copy

import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.weights = [torch.randn(3, 3, requires_grad=True)]

    def forward(self, x):
        return x @ self.weights[0]


def adapted(net):
    start = [w.clone() for w in net.weights]
    for _ in range(100):
        net.weights = [w.clone() for w in start]
        (gradient,) = torch.autograd.grad(net(torch.randn(2, 3)).sum(), net.weights)
        net.weights[0] = net.weights[0] - 0.1 * gradient
    net.weights = [w.clone() for w in start]


net = Net()
for _ in range(100):
    adapted(copy.copy(net))
