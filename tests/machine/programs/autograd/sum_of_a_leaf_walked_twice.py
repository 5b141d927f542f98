import torch

w = torch.randn(2, 3, requires_grad=True)
y = torch.cat([w.t().reshape(-1), w.view(6)]).mean() - w.sum()
y.backward()
y.backward()
y = y + w.index_select(0, torch.tensor([0])).sum()
y.backward()
