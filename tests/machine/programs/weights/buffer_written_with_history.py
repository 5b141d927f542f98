import torch
from torch import nn


class Mean(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 3)
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x):
        h = self.layer(x)
        self._buffers["seen"] = 0.9 * self.seen + 0.1 * h.mean(0)
        return h - self.seen


net = Mean()
for _ in range(3):
    loss = net(torch.ones(4, 3)).pow(2).sum()
    loss.backward()
