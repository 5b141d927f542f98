import math

import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    for group in optimizer.param_groups:
        group["lr"] = 0.1 * (1 + math.cos(math.pi * step / 30)) / 2
    weight = min(1.0, step / 10)
    loss = model(torch.randn(4, 2)).pow(2).mean() * weight
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
