import itertools

import torch

w = torch.randn(2, requires_grad=True)
ring = itertools.cycle([1.0, 2.0])
for k in itertools.chain([3.0], (4.0, 5.0)):
    ((w * k).sum() * next(ring)).backward()
trunk = w.exp()
for k in itertools.chain([3.0], (4.0, 5.0)):
    (trunk * next(ring)).sum().backward()
