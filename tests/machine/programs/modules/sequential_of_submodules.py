import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(size, size), nn.LayerNorm(size), nn.GELU())

    def forward(self, x):
        return x + self.body(x)


model = nn.Sequential(*[Block(2) for _ in range(2)], nn.Dropout(0.1), nn.Linear(2, 1))
model.train()
for _ in range(3):
    model(torch.randn(4, 2)).mean().backward()
model[0](torch.randn(4, 2)).mean().backward()
loss = model[:2](torch.randn(4, 2)).mean()
loss.backward()
loss.backward()
