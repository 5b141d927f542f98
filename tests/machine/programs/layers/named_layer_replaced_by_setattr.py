import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.zeros(2)

    def forward(self, x):
        self.last = torch.tanh(x + self.last)
        return self.last


net = nn.Sequential()
net.add_module("inner", nn.Linear(2, 2))
net.add_module("act", nn.Tanh())
net.add_module("outer", nn.Linear(2, 1))
for name, layer in list(net.named_children()):
    if isinstance(layer, nn.Tanh):
        setattr(net, name, Memory())
assert len(net) == 3
for _ in range(2):
    net(torch.randn(2)).sum().backward()
