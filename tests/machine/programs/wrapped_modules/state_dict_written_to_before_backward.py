import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
loss = model(torch.randn(4, 2)).mean()
model.state_dict()["1.weight"].mul_(0.5)
loss.backward()
