import torch

w = torch.randn(2, requires_grad=True)
loss = (w ** 3).sum()
loss.backward(create_graph=True)
penalty = w.grad.pow(2).sum()
w.grad = None
penalty.backward()
