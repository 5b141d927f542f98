import torch

w = torch.randn(2, requires_grad=True)
for _ in range(2):
    loss = (w * 2).sum()
    loss.backward()
    w.grad.mul_(0.5)
    w.grad.data.clamp_(-1, 1)
    w.grad.zero_()
