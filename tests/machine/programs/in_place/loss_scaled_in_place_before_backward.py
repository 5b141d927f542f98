import torch

w = torch.randn(2, requires_grad=True)
for k in range(2):
    loss = (w ** 2).mean()
    loss /= 2
    loss.backward()
loss = w.norm()
loss *= 2
loss.backward()
