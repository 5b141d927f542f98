import torch

w = torch.randn(2, requires_grad=True)
total = sum((w * k).pow(2).sum() for k in range(4) if k % 2)
total.backward()
total = sum(part for part in [total, w.sum()])
total.backward()
