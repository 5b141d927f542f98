import torch

w = torch.randn(2, requires_grad=True)
base = w.exp()
losses = list(map(lambda k: (base * k).sum(), range(3)))
for loss in filter(lambda loss: loss.requires_grad, losses):
    loss.backward()
