import torch
from torch import nn


def initialise(module):
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
        nn.init.xavier_uniform_(module.weight)


model = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid(), nn.Linear(2, 1))
model.apply(initialise)
out = model(torch.randn(4, 2))
for name, module in model.named_modules():
    if isinstance(module, nn.Sigmoid):
        continue
    out.mean().backward()
