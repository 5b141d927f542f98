import torch

w = torch.randn(3, requires_grad=True)
x = torch.ones(3)
loss = (w * x).sum()
x.mul_(2)
loss.backward()
