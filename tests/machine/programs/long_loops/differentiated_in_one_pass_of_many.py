import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
for step in range(20):
    if step == 7:
        loss.backward()
