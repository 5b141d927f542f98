import torch

w = torch.randn(2, requires_grad=True)


def step(x, seen=[]):
    seen.append((w * x).sum())
    loss = sum(seen)
    loss.backward()


step(1.0)
step(2.0)
