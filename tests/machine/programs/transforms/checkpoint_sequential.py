import torch
from torch import nn
from torch.utils.checkpoint import checkpoint_sequential

model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
for _ in range(2):
    checkpoint_sequential(model, 2, torch.randn(4, 2, requires_grad=True), use_reentrant=False).mean().backward()
out = checkpoint_sequential(model, 2, torch.randn(4, 2, requires_grad=True), use_reentrant=False)
out.mean().backward()
out.sum().backward()
