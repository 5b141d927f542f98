import torch

w = torch.randn(2, requires_grad=True)
trunk = w.exp()
torch.autograd.backward([trunk.sum(), (trunk * 2).sum()])
trunk = w.exp()
torch.autograd.backward((trunk, trunk * 2), grad_tensors=(torch.ones(2), torch.ones(2)))
torch.autograd.backward(trunk.sum())
