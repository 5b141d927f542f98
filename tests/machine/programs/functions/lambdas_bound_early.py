import torch

w = torch.randn(2, requires_grad=True)
losses = [(w * k).sum() for k in range(3)]
makers = [lambda i=i: losses[i] for i in range(3)]
for make in makers:
    make().backward()
