import torch

w = torch.randn(2, requires_grad=True)


def step(x, seen=None):
    seen = [] if seen is None else seen
    seen.append((w * x).sum())
    sum(seen).backward()


step(1.0)
step(2.0)
