import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
other = nn.Sequential.__new__(nn.Sequential)
other.__dict__ = net.__dict__.copy()
other._modules = other._modules.copy()
other._modules["1"] = nn.Identity()
scale = nn.Parameter(torch.ones(1))
other._modules["0"] = nn.Linear(2, 3)
other[0]._parameters["bias"] = scale * torch.ones(3)
for _ in range(2):
    net(torch.ones(4, 2)).sum().backward()
loss = other(torch.ones(4, 2)).sum()
loss.backward()
loss = other(torch.ones(4, 2)).sum()
loss.backward()
