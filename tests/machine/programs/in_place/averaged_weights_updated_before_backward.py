import copy

import torch
from torch import nn

model = nn.Linear(2, 2)
average = copy.deepcopy(nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))).requires_grad_(False)
loss = average(model(torch.randn(4, 2))).mean()
with torch.no_grad():
    for q in average.parameters():
        q.mul_(0.9)
loss.backward()
