import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
if torch.rand(()).item() > 0.5:
    loss.backward()
else:
    loss.backward()
loss.backward()
