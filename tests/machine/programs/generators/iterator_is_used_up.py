import torch

w = torch.randn(2, requires_grad=True)
losses = iter([(w * k).sum() for k in range(3)])
for loss in losses:
    loss.backward()
for loss in losses:
    loss.backward()
