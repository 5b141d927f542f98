import torch

w = torch.randn(2, requires_grad=True)
losses = []
for k in range(3):
    losses.append((w * k).pow(2).sum())
    torch.stack(losses).mean().backward()
