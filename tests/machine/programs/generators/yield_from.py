import torch

w = torch.randn(2, requires_grad=True)


def inner(base):
    yield base.sum()
    yield (base * 2).sum()


def outer():
    yield from inner(w.sin())
    yield from [w.cos().sum()]


first, second, third = outer()
(first + second).backward()
third.backward()
second.backward()
