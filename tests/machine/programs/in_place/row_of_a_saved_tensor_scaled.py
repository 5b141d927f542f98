import torch

w = torch.randn(3, 2, requires_grad=True)
y = w.sigmoid()
y[0].mul_(2.0)
y.sum().backward()
