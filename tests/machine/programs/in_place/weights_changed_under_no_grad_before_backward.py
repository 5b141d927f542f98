import torch

w = torch.randn(3, requires_grad=True)
loss = (w ** 2).sum()
with torch.no_grad():
    w.sub_(0.1)
loss.backward()
