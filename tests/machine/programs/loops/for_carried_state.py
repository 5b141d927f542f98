import torch

w = torch.randn(3, 3, requires_grad=True)
h = torch.zeros(1, 3)
for x in (torch.randn(1, 3), torch.randn(1, 3), torch.randn(1, 3)):
    h = torch.tanh(x + h @ w)
    loss = h.pow(2).mean()
    loss.backward()
