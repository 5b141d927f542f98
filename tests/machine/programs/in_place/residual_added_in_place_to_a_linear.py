import torch
from torch import nn

layer, other = nn.Linear(2, 2), nn.Linear(2, 2)
x = torch.relu(layer(torch.randn(4, 2)))
y = other(x)
y += x
y.sum().backward()
