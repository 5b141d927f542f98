import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 3).sum() * w.prod()
(g,) = torch.autograd.grad(loss, w, create_graph=True)
rows = [torch.autograd.grad(g[i], w)[0] for i in range(3)]
