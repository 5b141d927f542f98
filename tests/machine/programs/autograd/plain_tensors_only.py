import torch

total = torch.zeros(2)
state = torch.ones(2)
w = torch.randn(2, requires_grad=True)
for k in range(3):
    state = torch.tanh(state * k) + total
    total += state
    (w * state.clone()).sum().backward()
