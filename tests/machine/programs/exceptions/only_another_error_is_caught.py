import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
loss.backward()
try:
    loss.backward()
except (ValueError, KeyError):
    print("not this one")
