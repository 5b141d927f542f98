import torch

w = torch.randn(3, requires_grad=True)
p = w.softmax(0)
p[torch.tensor([0, 1])] = 0.0
p.sum().backward()
