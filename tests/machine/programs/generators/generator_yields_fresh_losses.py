import torch

w = torch.randn(2, requires_grad=True)


def losses(count):
    for k in range(count):
        yield (w * k).sum()


for loss in losses(3):
    loss.backward()
