import torch

w = torch.randn(2, requires_grad=True)
a, b = w.exp(), w.sin()
a, b = b, a
a.sum().backward()
b.sum().backward()
(a * 2).sum().backward()
