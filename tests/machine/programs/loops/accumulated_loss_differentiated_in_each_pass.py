import torch

w = torch.randn(2, requires_grad=True)
total = 0
for x in torch.randn(3, 2):
    total = total + (w * x).pow(2).sum()
    total.backward()
