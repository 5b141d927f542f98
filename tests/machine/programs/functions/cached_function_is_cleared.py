from functools import cache

import torch

w = torch.randn(2, requires_grad=True)


@cache
def prior(k):
    return (w * k).exp()


for x in range(3):
    (prior(1).sum() + prior(1).mean()).backward()
    prior.cache_clear()
prior.__wrapped__(1).sum().backward()
prior(1).sum().backward()
prior(1).sum().backward()
