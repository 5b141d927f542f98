import torch

w = torch.ones(3, requires_grad=True)
cache = {}
for i in range(40):
    loss = cache.setdefault(i, (w * w).sum())
    loss.backward()
