import torch
from torch import nn

trunk, heads = nn.Linear(2, 3), nn.ModuleList([nn.Linear(3, 1) for _ in range(8)])
for step in range(10):
    features = torch.relu(trunk(torch.randn(4, 2)))
    losses = [head(features).pow(2).mean() for head in heads]
    for i, loss in enumerate(losses):
        loss.backward(retain_graph=i < len(losses) - 1)
