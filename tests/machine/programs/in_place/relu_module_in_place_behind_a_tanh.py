import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.ReLU(inplace=True))
model(torch.randn(4, 2)).sum().backward()
