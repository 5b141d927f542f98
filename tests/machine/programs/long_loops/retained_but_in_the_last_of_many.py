import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
n = 10
for i in range(n):
    loss.backward(retain_graph=(i != n - 1))
