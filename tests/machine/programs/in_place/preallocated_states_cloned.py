import torch

w = torch.randn(3, 3, requires_grad=True)
states = torch.zeros(4, 3)
for t in range(1, 4):
    states[t] = torch.tanh(states[t - 1].clone() @ w)
states.sum().backward()
