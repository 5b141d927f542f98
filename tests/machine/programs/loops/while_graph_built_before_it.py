import torch

w = torch.ones(4, requires_grad=True)
penalty = (w ** 2).sum()
step = 0
while step < 3:
    loss = (w * torch.randn(4)).sum() + penalty
    loss.backward()
    step += 1
