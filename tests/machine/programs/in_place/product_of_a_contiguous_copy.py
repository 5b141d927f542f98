import torch
import torch.nn.functional as F

x = torch.zeros(2, 3)
y = F.linear(x.t().contiguous(), torch.ones(5, 2, requires_grad=True))
x += 1
y.sum().backward()
