import torch

w = torch.randn(3, requires_grad=True)
x = torch.randn(2, 3)
loss = (w * x).sum()
x[0].zero_()
loss.backward()
