import torch

w = torch.randn(2, requires_grad=True)
offset = (w + 1).sum()
for _ in range(3):
    loss = offset + (w * 2).sum()
    loss.backward()
