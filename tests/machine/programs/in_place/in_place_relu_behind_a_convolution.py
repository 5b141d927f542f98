import torch
from torch import nn

model = nn.Sequential(nn.Conv1d(2, 2, 1), nn.BatchNorm1d(2), nn.ReLU(True), nn.Conv1d(2, 1, 1), nn.LeakyReLU(0.1, True))
for _ in range(2):
    model(torch.randn(4, 2, 5)).mean().backward()
