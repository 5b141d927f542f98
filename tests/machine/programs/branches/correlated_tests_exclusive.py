import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
heads = torch.rand(()).item() > 0.5
if heads:
    loss.backward()
print("between")
if not heads:
    loss.backward()
