import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(inplace=True), nn.Linear(2, 1))
for _ in range(2):
    model(torch.randn(4, 2)).sum().backward()
