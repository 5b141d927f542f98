import copy

import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
average = copy.deepcopy(model).requires_grad_(False)
for _ in range(2):
    loss = (model(torch.randn(4, 2)) - average(torch.randn(4, 2))).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p, q in zip(model.parameters(), average.parameters()):
            q.mul_(0.9).add_(p, alpha=0.1)
