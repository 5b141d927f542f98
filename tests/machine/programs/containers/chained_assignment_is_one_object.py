import torch

w = torch.randn(2, requires_grad=True)
a = b = (w * 2).sum()
c = d = 0
c = c + a
a.backward()
(w + d).sum().backward()
b.backward()
