import torch

w = torch.randn(2, requires_grad=True)
losses = []
for k in range(5):
    losses.append((w * k).pow(2).sum())
torch.stack(losses).mean().backward()
print(sum(loss.item() for loss in losses))
