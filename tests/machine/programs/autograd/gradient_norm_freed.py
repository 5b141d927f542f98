import torch

w = torch.randn(2, requires_grad=True)
loss = (w ** 3).sum()
(g,) = torch.autograd.grad(loss, w, create_graph=True)
norm = g.norm()
norm.backward()
(norm + loss).backward()
