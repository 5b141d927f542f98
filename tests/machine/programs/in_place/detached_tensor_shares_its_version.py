import torch

w = torch.randn(3, requires_grad=True)
y = torch.tanh(w)
y.detach().add_(1)
y.sum().backward()
