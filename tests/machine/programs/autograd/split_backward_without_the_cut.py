import torch
from torch import nn

trunk, heads = nn.Linear(2, 2), [nn.Linear(2, 1) for _ in range(3)]
h = trunk(torch.randn(4, 2)).tanh()
cut = h.requires_grad_()
for head in heads:
    head(cut).pow(2).mean().backward()
