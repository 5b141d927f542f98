import torch

w = torch.randn(3, requires_grad=True)
seen = {}
for i in range(0, 6, 2):
    seen[i] = (w * i).sum()
for i in range(4, -1, -2):
    seen[i].backward()
