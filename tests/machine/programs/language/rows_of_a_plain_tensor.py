import torch

w = torch.randn(3, requires_grad=True)
for row in torch.eye(3):
    (w * row).sum().backward()
for row in torch.eye(3).unbind(0):
    (w * row).sum().backward()
