import torch

w = torch.randn(3, requires_grad=True)
gradient = torch.func.grad(lambda x: ((x * w) ** 2).sum())(torch.randn(3))
gradient.sum().backward()
gradient.sum().backward()
