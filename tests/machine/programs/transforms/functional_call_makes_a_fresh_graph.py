import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.Linear(3, 1))
params = dict(model.named_parameters())
for _ in range(2):
    torch.func.functional_call(model, params, (torch.randn(4, 2),)).mean().backward()
loss = torch.func.functional_call(model, params, (torch.randn(4, 2),)).mean()
loss.backward()
loss.backward()
