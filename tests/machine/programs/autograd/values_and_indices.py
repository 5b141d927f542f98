import torch

w = torch.randn(3, 2, requires_grad=True)
values, indices = w.max(dim=1)
values.sum().backward()
best = w.topk(1, dim=1).values
best.sum().backward()
w.sort(descending=True)[0].sum().backward()
values.mean().backward()
