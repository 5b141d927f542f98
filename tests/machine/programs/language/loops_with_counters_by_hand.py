import torch

w = torch.randn(2, 2, requires_grad=True)
h, done, t = torch.ones(2), False, 0
while not done:
    h = torch.tanh(h @ w)
    t += 1
    if t % 2 == 0:
        h.sum().backward()
        h = h.detach()
    done = t >= 4
