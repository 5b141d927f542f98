import torch

w = torch.randn(2, 2, requires_grad=True)
h = torch.ones(2)
for _ in range(3):
    h = h.detach().requires_grad_()
    out = torch.tanh(h @ w)
    out.sum().backward()
    h = out - 0.1 * h.grad
