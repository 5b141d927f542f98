import torch

w = torch.randn(4, requires_grad=True)
a, b = w.exp().chunk(2)
c, d = (w + 1).split(2)
e, f = torch.stack([w, w]).unbind(0)
(a.sum() + c.sum() + e.sum()).backward()
(d.sum() + f.sum()).backward()
b.sum().backward()
