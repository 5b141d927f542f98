import torch

w = torch.ones(3, requires_grad=True)
other = torch.ones(3, requires_grad=True)
loss = (w.exp() * other).sum()
torch.autograd.grad(loss, other)
loss.backward()
