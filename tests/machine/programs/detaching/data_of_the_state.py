import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for _ in range(3):
    h = torch.tanh(h.data @ w)
    h.sum().backward()
