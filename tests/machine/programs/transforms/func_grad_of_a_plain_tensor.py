import torch

gradient = torch.func.grad(lambda x: (x**2).sum())(torch.randn(3))
w = torch.randn(3, requires_grad=True)
for _ in range(2):
    (w * gradient).sum().backward()
