import torch

w = torch.randn(3, requires_grad=True)
y = w + 1
y.add_(2).neg_()
y.sub_(w)
y.sum().backward()
y.sum().backward()
