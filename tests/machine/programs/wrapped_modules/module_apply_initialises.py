import torch
from torch import nn


def initialise(module):
    if isinstance(module, nn.Linear):
        nn.init.zeros_(module.bias)
        nn.init.xavier_uniform_(module.weight)


model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
model.apply(initialise)
model(torch.randn(4, 2)).mean().backward()
loss = model(torch.randn(4, 2)).mean()
model.apply(initialise)
loss.backward()
