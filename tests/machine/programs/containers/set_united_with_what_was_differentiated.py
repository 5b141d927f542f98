import torch

w = torch.ones(3, requires_grad=True)
losses = set()
for step in range(3):
    loss = (w * w).sum()
    loss.backward()
    losses = losses.union({loss})
for loss in losses:
    loss.backward()
