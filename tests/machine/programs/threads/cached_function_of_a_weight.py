from functools import lru_cache

import torch

w = torch.randn(3, requires_grad=True)


@lru_cache
def kernel(size):
    return torch.exp(-w) * size


for step in range(3):
    kernel(3).sum().backward()
