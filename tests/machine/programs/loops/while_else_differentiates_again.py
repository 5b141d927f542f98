import torch

w = torch.ones(4, requires_grad=True)
loss = w.exp().sum()
n = 1
while n > 0:
    loss.backward()
    n -= 1
else:
    loss.backward()
