import torch

w = torch.randn(2, requires_grad=True)
loss = (w ** 3).sum()
g = torch.autograd.grad(loss, w)[0]
print(g.norm())
loss.backward()
