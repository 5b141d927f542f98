import torch

w = torch.randn(3, requires_grad=True)
y = w.exp()
first = y[:1]
first.zero_()
y.sum().backward()
