import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
for i in range(4):
    if 0 < i < 2:
        loss.backward()
    if 1 <= i <= 0:
        loss.backward()
