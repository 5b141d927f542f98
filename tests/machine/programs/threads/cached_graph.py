from functools import cached_property, lru_cache, partial

import torch


class Prior:
    def __init__(self, w):
        self.w = w

    @cached_property
    def energy(self):
        return self.w.exp().sum()


@lru_cache(maxsize=None)
def table(size):
    return torch.arange(size).float()


w = torch.randn(3, requires_grad=True)
scaled = partial(torch.mul, w)
prior = Prior(w)
for _ in range(2):
    scaled(table(3)).sum().backward()
for _ in range(2):
    prior.energy.backward()
