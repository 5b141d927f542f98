import torch

w = torch.randn(2, 2, requires_grad=True)
states = [torch.ones(2), torch.ones(2)]
for i in range(3):
    states = [s.detach() for s in states]
    for k, state in enumerate(states):
        states[k] = torch.tanh(state @ w)
    torch.cat(states).sum().backward()
