import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 3).sum()
n = 3
for i in range(n):
    loss.backward(retain_graph=i < n - 1)
