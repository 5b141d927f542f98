import torch

w = torch.randn(2, requires_grad=True)
loss_of = lambda x: ((w - x) ** 2).sum()
for x in range(3):
    loss_of(x).backward()
