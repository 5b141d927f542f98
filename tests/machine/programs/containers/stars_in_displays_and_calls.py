import torch

w = torch.randn(2, requires_grad=True)


def total(first, *rest, scale=1.0):
    return (first + sum(rest)) * scale


a, b, c = [(w * k).sum() for k in (1, 2, 3)]
total(*[a, b], **{"scale": 2.0}).backward()
total(*(c,), *[]).backward()
total(*{"x": a}.values()).backward()
