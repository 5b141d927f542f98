import torch
from torch import nn
from torch.utils import checkpoint

model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 2), nn.Tanh())
x = torch.randn(4, 2, requires_grad=True)
for _ in range(2):
    checkpoint.checkpoint_sequential(model, 2, x, use_reentrant=False).sum().backward()
