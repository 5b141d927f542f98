import copy

import torch
from torch import nn

online = nn.Linear(2, 1)
target = copy.deepcopy(online)
state = torch.randn(4, 2)
with torch.no_grad():
    goal = 1.0 + 0.9 * target(state)
for _ in range(3):
    nn.functional.mse_loss(online(state), goal).backward()
    for p, q in zip(online.parameters(), target.parameters()):
        q.data.mul_(0.9).add_(0.1 * p.data)
