import torch

w = torch.randn(2, requires_grad=True)
losses = [(w * k).sum() for k in range(4)]
sum(losses[:2]).backward()
sum(losses[2:]).backward()
sum(losses[1:3]).backward()
