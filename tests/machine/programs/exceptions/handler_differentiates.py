import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
table = {}
try:
    loss.backward()
    table["missing"]
except KeyError:
    loss.backward()
