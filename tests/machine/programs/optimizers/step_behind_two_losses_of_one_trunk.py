import torch
from torch import nn

trunk, a, b = nn.Linear(2, 3), nn.Linear(3, 1), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*trunk.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
for _ in range(2):
    h = torch.tanh(trunk(torch.randn(4, 2)))
    loss_a, loss_b = a(h).mean(), b(h).mean()
    loss_a.backward(retain_graph=True)
    loss_b.backward()
    optimizer.step()
    optimizer.zero_grad()
