import torch

w = torch.randn(2, 3, requires_grad=True)
y = w + 0
y.view(6)[2:4].add_(1)
y.sum().backward()
y.sum().backward()
