import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
ready = False
ready and loss.backward()
ready or loss.backward()
