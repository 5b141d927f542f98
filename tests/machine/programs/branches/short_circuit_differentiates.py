import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
ready = True
ready and loss.backward()
not ready or loss.backward()
