import torch

w = torch.randn(3, requires_grad=True)
a = w * 2
b = a + a
a[0] = 0.0
(a.sum() + b.sum()).backward()
