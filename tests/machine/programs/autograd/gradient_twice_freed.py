import torch

a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
loss = (a * b).sum()
(ga,) = torch.autograd.grad(loss, a)
(gb,) = torch.autograd.grad(loss, b)
