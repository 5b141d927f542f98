import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
keep = False
for i in range(3):
    loss.backward(retain_graph=keep)
    keep = True
