import torch

w = torch.randn(3, requires_grad=True)
y = w * 2
y.sigmoid_()
y.mul_(3)
y.sum().backward()
