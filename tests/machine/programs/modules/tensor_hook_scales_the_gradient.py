import torch
from torch import nn

layer = nn.Linear(2, 2)
h = layer(torch.randn(4, 2)).tanh()
h.register_hook(lambda grad: grad * 0.5)
h.retain_grad()
h.sum().backward()
print(h.grad.norm().item())
h.mean().backward()
