import torch

w = torch.randn(3, requires_grad=True)
loss = w.sigmoid().sum()
for i in range(2):
    for j in range(3):
        loss.backward()
        break
