import torch

w = torch.randn(2, 2, requires_grad=True)
h = None
for _ in range(3):
    if h is None:
        h = torch.zeros(2)
    h = torch.sin(h @ w + 1)
    h.sum().backward()
