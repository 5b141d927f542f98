import torch

w = torch.randn(3, 2, requires_grad=True)
y = w + 1
y[:, 0] *= 2.0
y[1] += 1.0
y.sum().backward()
