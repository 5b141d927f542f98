import torch

w = torch.randn(2, requires_grad=True)
scale = torch.tensor(2.0)
loss = (w * scale).sum()
scale.fill_(3.0)
loss.backward()
