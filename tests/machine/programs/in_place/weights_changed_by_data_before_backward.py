import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 2).sum()
w.data.sub_(0.1)
w.data -= 0.1
loss.backward()
