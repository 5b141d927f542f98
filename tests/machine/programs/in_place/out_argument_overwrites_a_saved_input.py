import torch

w = torch.randn(3, requires_grad=True)
x = torch.ones(3)
loss = (w * x).sum()
torch.add(x, 1.0, out=x)
loss.backward()
