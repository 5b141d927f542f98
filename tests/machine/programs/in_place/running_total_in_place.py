import torch

w = torch.randn(3, requires_grad=True)
total = torch.zeros(())
for k in range(3):
    total += (w * k).pow(2).sum()
total.backward()
