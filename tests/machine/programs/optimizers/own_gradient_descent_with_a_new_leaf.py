import torch

w = torch.randn(2, requires_grad=True)
for _ in range(3):
    loss = (w ** 2).sum()
    loss.backward()
    w = (w - 0.1 * w.grad).detach().requires_grad_()
