import torch

w = torch.randn(2, 2, requires_grad=True)
states = [torch.ones(2), torch.ones(2)]
for i in range(2):
    for k in range(len(states)):
        states[k] = torch.tanh(states[k] @ w)
    torch.cat(states).sum().backward()
