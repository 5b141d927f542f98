import torch
from torch import nn

x = torch.zeros(2, 3, 4)
y = nn.Linear(4, 5)(x)
x += 1
y.sum().backward()
