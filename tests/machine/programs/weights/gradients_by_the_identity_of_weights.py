import torch
from torch import nn

net = nn.Linear(2, 1)
frozen = nn.Parameter(torch.ones(1)) * 2
for _ in range(2):
    loss = net(torch.ones(4, 2)).pow(2).mean() + frozen.sum()
    found = {id(p): p * 1.5 for p in net.parameters()}
    found[id(frozen)] = frozen
    total = found[id(net.weight)].sum()
    total.backward()
