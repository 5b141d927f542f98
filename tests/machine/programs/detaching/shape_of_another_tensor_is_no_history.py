import torch

w = torch.ones(4, requires_grad=True)
v = torch.ones(2, 2, requires_grad=True)
other = (v * v).exp()
first = (w * w).view_as(other).expand_as(other).reshape_as(other).type_as(other).to(other)
first.sum().backward()
other.sum().backward()
