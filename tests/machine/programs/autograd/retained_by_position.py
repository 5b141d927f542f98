import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
loss.backward(None, True)
loss.backward(None, False)
loss.backward()
