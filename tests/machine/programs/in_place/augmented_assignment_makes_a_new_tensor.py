import torch

w = torch.randn(2, requires_grad=True)
y = torch.sigmoid(w)
z = y.sum()
y = y * 2
(z + y.sum()).backward()
