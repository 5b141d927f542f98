import torch

w = torch.randn(2, requires_grad=True)


def shift(x, by=1.0):
    x += by
    return x


y = w.exp()
shift(y.clone()).sum().backward()
y = w.exp()
shift(y)
y.sum().backward()
