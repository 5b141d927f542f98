import torch

a = torch.randn(2, requires_grad=True)
b = torch.randn(2, requires_grad=True)
loss = (a ** 2).sum()
ga, gb = torch.autograd.grad(loss, (a, b), allow_unused=True)
print(gb is None)
ga, gb = torch.autograd.grad(loss, (a, b), allow_unused=True)
