import torch

w = torch.randn(3, requires_grad=True)
h = w.exp()
loss = h.pow(2).sum()
(g,) = torch.autograd.grad(loss, h)
loss.backward()
