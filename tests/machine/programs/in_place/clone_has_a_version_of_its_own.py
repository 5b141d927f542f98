import torch

w = torch.randn(3, requires_grad=True)
y = torch.tanh(w)
z = y.clone()
z.add_(1)
z[0] = 5.0
(y.sum() + z.sum()).backward()
