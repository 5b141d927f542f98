import torch
from torch import nn

blocks = nn.ModuleList([nn.Linear(2, 2)])
for stage in range(4):
    for step in range(3):
        x = torch.randn(4, 2)
        for block in blocks:
            x = torch.tanh(block(x))
        x.pow(2).mean().backward()
    blocks.append(nn.Linear(2, 2))
