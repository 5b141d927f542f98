import torch

w = torch.randn(2, requires_grad=True)
y = w.exp()
y.add_(1)
y.sum().backward()
