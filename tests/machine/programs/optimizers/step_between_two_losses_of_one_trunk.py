import torch
from torch import nn

trunk, a, b = nn.Linear(2, 3), nn.Linear(3, 1), nn.Linear(3, 1)
optimizer = torch.optim.SGD([*trunk.parameters(), *a.parameters(), *b.parameters()], lr=0.1)
x = torch.randn(4, 2, requires_grad=True)
h = torch.tanh(trunk(x))
loss_a, loss_b = a(h).mean(), b(h).mean()
loss_a.backward(retain_graph=True)
optimizer.step()
loss_b.backward()
