from collections import OrderedDict

import torch
import torch.nn.functional as F
from torch import nn


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.zeros(2)

    def forward(self, x):
        self.last = torch.tanh(x + self.last)
        return self.last


net = nn.Sequential(OrderedDict([("inner", nn.Linear(2, 2)), ("act", nn.Tanh())]))
net.add_module("outer", nn.Linear(2, 1))
names = [name for name, _ in net.named_parameters()]
assert names == ["inner.weight", "inner.bias", "outer.weight", "outer.bias"]
assert [name for name, _ in net.named_children()] == ["inner", "act", "outer"]
for _ in range(2):
    weights = dict(net.named_parameters())
    h = torch.tanh(F.linear(torch.randn(4, 2), weights["inner.weight"], weights["inner.bias"]))
    (net.outer(h) - net(torch.randn(4, 2))).pow(2).sum().backward()
