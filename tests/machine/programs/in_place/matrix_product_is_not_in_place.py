import torch

w = torch.randn(3, 3, requires_grad=True)
y = torch.sigmoid(w)
z = y
z @= w
z.sum().backward()
y.sum().backward()
