from functools import lru_cache

import torch

w = torch.randn(2, requires_grad=True)


@lru_cache(maxsize=None)
def prior(k):
    return (w * k).exp()


for x in range(2):
    loss = prior(1).sum() + prior(x + 5).sum()
    loss.backward()
