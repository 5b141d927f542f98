import functools

import torch

w = torch.randn(2, requires_grad=True)


@functools.cache
def prior(k):
    return (w * k).exp()


for x in range(3):
    prior(x).sum().backward()
