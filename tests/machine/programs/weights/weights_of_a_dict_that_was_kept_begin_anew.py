import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
held = [part._parameters for part in net.modules()]
for _ in range(3):
    for weights in held:
        for name in weights:
            weights[name] = weights[name] * 0.5
    loss = net(torch.ones(4, 2)).sum()
    loss.backward()
    for part in net.modules():
        for name, p in part._parameters.items():
            part._parameters[name] = p.detach().requires_grad_()
