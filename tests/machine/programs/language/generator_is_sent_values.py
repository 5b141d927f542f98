import torch

w = torch.randn(2, requires_grad=True)


def scaled():
    factor = 1.0
    while True:
        factor = yield (w * factor).sum()


steps = scaled()
next(steps).backward()
steps.send(2.0).backward()
last = steps.send(3.0)
last.backward()
last.backward()
