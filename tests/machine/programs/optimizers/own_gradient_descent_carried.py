import torch

v = torch.randn(2, requires_grad=True)
w = v * 1.0
for _ in range(2):
    w.retain_grad()
    loss = (w ** 2).sum()
    loss.backward()
    w = w * 0.9 - 0.1 * w.grad
