import torch
from functools import partial

w = torch.ones(3, requires_grad=True)
kept = []


def keep(name, loss, gradient):
    kept.append(loss)


for _ in range(2):
    y = w * w
    loss = y.exp().sum()
    y.register_hook(partial(keep, "y", loss))
    loss.backward()
kept[0].backward()
