import torch
from torch import nn

first, second = nn.Linear(2, 2), nn.Linear(2, 1)
loss = second(first(torch.randn(4, 2))).mean()
nn.init.normal_(second.weight)
loss.backward()
