import torch

w = torch.randn(3, requires_grad=True)
for row in w * torch.eye(3):
    row.sum().backward()
