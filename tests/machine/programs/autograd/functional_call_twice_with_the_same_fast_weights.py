import torch
from torch import nn

model = nn.Linear(2, 1)
fast = {name: p * 0.9 for name, p in model.named_parameters()}
for _ in range(2):
    torch.func.functional_call(model, fast, torch.randn(4, 2)).pow(2).mean().backward()
