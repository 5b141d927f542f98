import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 3).sum()
for i in range(3):
    loss.backward(retain_graph=(i == 0))
