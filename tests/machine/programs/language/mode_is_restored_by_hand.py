import torch

w = torch.randn(2, requires_grad=True)
before = torch.is_grad_enabled()
torch.set_grad_enabled(False)
try:
    prior = w.exp()
finally:
    torch.set_grad_enabled(before)
trunk = w.exp()
for _ in range(2):
    (w * prior).sum().backward()
for _ in range(2):
    trunk.sum().backward()
