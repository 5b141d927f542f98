import torch
from torch.autograd import backward

w = torch.randn(2, requires_grad=True)
trunk = w.exp()
losses = [trunk.sum(), (trunk * 2).sum()]
backward(losses, retain_graph=True)
backward(losses)
