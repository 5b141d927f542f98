import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
for name, p in model.named_parameters():
    if name.startswith("0."):
        p.requires_grad_(False)
features = model[0](torch.randn(4, 2)).tanh()
for _ in range(2):
    model[1](features).mean().backward()
