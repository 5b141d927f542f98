import torch

w = torch.randn(2, requires_grad=True)
loss = (w * 2).sum()
assert loss.requires_grad, "it has history"
assert loss.dim() == 0
loss.backward()
assert w.grad is not None
loss.backward()
