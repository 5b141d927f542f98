import torch

w = torch.randn(3, requires_grad=True)
for _ in range(2):
    torch.vmap(lambda x: (x * w).sum())(torch.randn(4, 3)).sum().backward()
loss = torch.vmap(lambda x: (x * w).sum())(torch.randn(4, 3)).sum()
loss.backward()
loss.backward()
