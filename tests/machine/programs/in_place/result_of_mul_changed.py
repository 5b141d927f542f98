import torch

w = torch.randn(2, requires_grad=True)
y = w * 2
y.add_(1)
y += 1
y.sum().backward()
