import torch

w = torch.randn(3, requires_grad=True)
y = torch.tanh(w)
y.data.add_(1)
y.sum().backward()
