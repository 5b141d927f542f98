import weakref

import torch
from torch import nn


class Cached(nn.Module):
    def __init__(self):
        super().__init__()
        self.raw = nn.Parameter(torch.ones(2))
        self.made = {}

    def weight(self):
        if "w" not in self.made:
            self.made["w"] = torch.exp(self.raw)
        return self.made["w"]

    def forget(self):
        self.made.clear()


net = Cached()
ref = weakref.WeakMethod(net.forget)
for _ in range(3):
    (net.weight() * 2).sum().backward()
    ref()()
