import torch
from torch import nn

layer = nn.Linear(2, 3)
raw = layer.weight
del layer._parameters["weight"]
layer.register_parameter("raw", nn.Parameter(raw.data))
layer.weight = layer.raw * 0.5
for _ in range(3):
    loss = layer(torch.ones(4, 2)).sum()
    loss.backward()
