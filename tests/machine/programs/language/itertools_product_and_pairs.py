from itertools import product, zip_longest

import torch

w = torch.randn(2, requires_grad=True)
losses = [(w * k).sum() for k in range(2)]
for a, b in zip_longest(losses, [w.exp().sum()]):
    if b is not None:
        (a + b).backward()
losses[1].backward()
for a, b in product(losses, repeat=2):
    (a + b).backward()
