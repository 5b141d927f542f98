from functools import lru_cache

import torch

w = torch.randn(2, requires_grad=True)


@lru_cache(maxsize=4)
def prior(k):
    return (w * k).exp()


for epoch in range(3):
    for x in range(4):
        prior(x).sum().backward()
