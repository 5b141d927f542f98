import torch

w = torch.randn(3, requires_grad=True)
buffer = torch.zeros(2, 3)
for i in range(2):
    buffer[i].copy_(torch.tanh(w))
buffer.sum().backward()
buffer[0].sum().backward()
