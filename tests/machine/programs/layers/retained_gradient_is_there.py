import torch

w = torch.randn(3, requires_grad=True)
h = torch.exp(w)
h.retain_grad()
loss = (h * h).sum()
loss.backward()
if h.grad is not None:
    loss.backward()
