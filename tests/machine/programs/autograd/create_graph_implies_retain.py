import torch

w = torch.randn(2, requires_grad=True)
loss = (w ** 3).sum()
g = torch.autograd.grad(loss, w, create_graph=True)[0]
g.sum().backward()
loss = (w ** 3).sum()
g = torch.autograd.grad(loss, w, create_graph=True, retain_graph=False)[0]
loss.backward()
