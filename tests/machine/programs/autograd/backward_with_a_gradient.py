import torch

w = torch.randn(2, requires_grad=True)
y = w.exp()
y.backward(torch.ones(2), retain_graph=True)
y.backward(gradient=torch.ones_like(y))
y.backward(torch.ones(2))
