import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for _ in range(2):
    h.detach()
    h = torch.tanh(h @ w)
    h.sum().backward()
