import torch
from torch import nn

first, second = nn.Linear(2, 2), nn.Linear(2, 1)
for layer in (first, second):
    nn.init.normal_(layer.weight)
    nn.init.constant_(layer.bias, 0.0)
loss = second(first(torch.randn(4, 2))).mean()
loss.backward()
