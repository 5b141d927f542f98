import torch
from torch import nn

layer = nn.Linear(2, 2)
x = layer(torch.randn(4, 2))
y = torch.relu(x)
y += x
y.sum().backward()
