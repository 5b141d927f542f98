import torch
from torch import nn

x = torch.zeros(2, 3, 4)
y = nn.Linear(3, 5)(x.permute(0, 2, 1))
x += 1
y.sum().backward()
