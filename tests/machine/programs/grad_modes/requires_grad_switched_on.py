import torch

w = torch.randn(2)
prior = w.exp()
w.requires_grad_()
trunk = (w * prior).sin()
for _ in range(2):
    (w * prior).sum().backward()
trunk.sum().backward()
trunk.sum().backward()
