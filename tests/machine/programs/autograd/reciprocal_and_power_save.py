import torch

w = torch.rand(2, requires_grad=True) + 1
a = (1 / w).sum()
b = (2 ** w).sum()
a.backward()
b.backward()
a.backward()
