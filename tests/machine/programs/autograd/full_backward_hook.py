import torch
from torch import nn

norms = []
model = nn.Sequential(nn.Linear(2, 2), nn.Tanh())
model[0].register_full_backward_hook(lambda module, gin, gout: norms.append(gout[0].norm().item()))
for _ in range(2):
    model(torch.randn(4, 2)).sum().backward()
print(len(norms))
