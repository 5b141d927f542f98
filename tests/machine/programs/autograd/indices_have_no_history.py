import torch

w = torch.randn(3, 2, requires_grad=True)
picked = w.argmax(dim=1)
mask = (w > 0).float()
one_hot = torch.nn.functional.one_hot(picked, 2).float()
for _ in range(3):
    (w * mask * one_hot).sum().backward()
