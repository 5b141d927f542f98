import torch

w = torch.randn(4, requires_grad=True)
y = w + 0
square = y.view(2, 2) ** 2
y.add_(1)
square.sum().backward()
