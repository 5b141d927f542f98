import torch

w = torch.randn(3, requires_grad=True)
p = w.softmax(0)
p = torch.where(p > 0.3, p, torch.zeros(()))
p = p.masked_fill(p < 0.1, 0.0)
p.sum().backward()
