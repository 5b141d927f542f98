import torch

x = torch.randn(3)
b = torch.zeros(3, requires_grad=True)
optimizer = torch.optim.SGD([b], lr=0.1)
y = x + b
first, second = y.sum(), (y * x).sum()
first.backward()
optimizer.step()
second.backward()
