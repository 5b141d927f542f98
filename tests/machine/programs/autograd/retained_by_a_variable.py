import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
keep = True
for i in range(3):
    keep = i < 2
    loss.backward(retain_graph=keep)
