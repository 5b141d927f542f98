import torch

x = torch.zeros(2, 3, 4)
y = torch.bmm(x.transpose(1, 2), torch.ones(2, 3, 5, requires_grad=True))
x += 1
y.sum().backward()
