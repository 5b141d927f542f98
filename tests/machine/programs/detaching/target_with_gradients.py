import torch
from torch import nn

online = nn.Linear(2, 1)
state = torch.randn(4, 2)
goal = (1.0 + 0.9 * online(state)) ** 2
for _ in range(3):
    nn.functional.mse_loss(online(state), goal).backward()
