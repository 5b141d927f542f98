import torch

w = torch.randn(4, requires_grad=True)
a = b = w.exp()
b *= 2
a.sum().backward()
