import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for i in range(3):
    h = h.detach() if i == 0 else h
    h = (h @ w).sigmoid()
    h.sum().backward()
