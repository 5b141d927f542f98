import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
loss = model(torch.randn(4, 2)).mean()
for p in model.parameters():
    p.data.add_(torch.randn_like(p.data))
loss.backward()
