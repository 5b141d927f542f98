import copy

import torch
import torch.nn.functional as F
from torch import nn

model = nn.Linear(2, 1)
shadow = copy.deepcopy(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    optimizer.zero_grad()
    with torch.no_grad():
        target = shadow(torch.randn(4, 2))
    F.mse_loss(model(torch.randn(4, 2)), target).backward()
    optimizer.step()
    with torch.no_grad():
        for name, value in shadow.state_dict().items():
            value.mul_(0.9).add_(model.state_dict()[name], alpha=0.1)
