import torch

x = torch.zeros(7, 4, 3)
y = x.transpose(0, 1) @ torch.ones(3, 2, requires_grad=True)
x += 1
y.sum().backward()
