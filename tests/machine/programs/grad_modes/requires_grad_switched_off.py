import torch

w, v = torch.randn(2, requires_grad=True), torch.randn(2, requires_grad=True)
w.requires_grad_(False)
prior = w.exp()
for _ in range(2):
    (prior * v).sum().backward()
w.requires_grad = True
prior = w.exp()
for _ in range(2):
    (prior * v).sum().backward()
