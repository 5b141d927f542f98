from itertools import count, islice, repeat

import torch

w = torch.randn(2, requires_grad=True)
fresh = ((w * k).sum() for k in count())
for loss in islice(fresh, 3):
    loss.backward()
for loss in repeat((w * 2).sum(), 2):
    loss.backward()
