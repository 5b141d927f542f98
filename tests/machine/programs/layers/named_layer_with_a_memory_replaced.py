from collections import OrderedDict

import torch
from torch import nn


class Memory(nn.Module):
    def __init__(self):
        super().__init__()
        self.last = torch.zeros(2)

    def forward(self, x):
        self.last = torch.tanh(x + self.last)
        return self.last


net = nn.Sequential(OrderedDict(inner=nn.Linear(2, 2), act=Memory()))
net.act = nn.Tanh()
for _ in range(2):
    net(torch.randn(2)).sum().backward()
