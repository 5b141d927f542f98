import torch

w = torch.randn(3, requires_grad=True)
loss = torch.vmap(lambda x: (x + w).sum())(torch.randn(4, 3)).sum()
loss.backward()
loss.backward()
