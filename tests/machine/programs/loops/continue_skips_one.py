import torch

w = torch.randn(3, requires_grad=True)
loss = w.sigmoid().sum()
for i in range(2):
    if i == 0:
        continue
    loss.backward()
