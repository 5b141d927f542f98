import torch
from torch import nn

critic = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
for _ in range(2):
    x = torch.randn(4, 2, requires_grad=True)
    out = critic(x)
    (g,) = torch.autograd.grad(out.sum(), x, create_graph=True)
    penalty = (g.norm(dim=1) - 1).pow(2).mean()
    (out.mean() + penalty).backward()
