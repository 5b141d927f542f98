import torch

w = torch.randn(3, requires_grad=True)
h = torch.exp(w)
h.retain_grad()
loss = (h * h).sum()
if h.grad is not None:
    loss.backward()
loss.backward(retain_graph=True)
h.grad = None
if h.grad is not None:
    loss.backward()
loss.backward()
w.data -= 0.1 * h.grad
