import torch
from torch import nn

captured = []
model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
model[1].register_forward_hook(lambda module, args, output: captured.append(output))
for _ in range(2):
    loss = model(torch.randn(4, 2)).mean() + sum(a.pow(2).mean() for a in captured)
    loss.backward()
