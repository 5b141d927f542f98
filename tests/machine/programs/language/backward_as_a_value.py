import torch

w = torch.randn(2, requires_grad=True)
loss = w.exp().sum()
backward = loss.backward
backward(retain_graph=True)
getattr(loss, "backward")(retain_graph=True)
backward()
backward()
