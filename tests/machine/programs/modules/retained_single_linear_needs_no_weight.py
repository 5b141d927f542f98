import torch
from torch import nn

net = nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.randn(8, 2))
for epoch in range(3):
    loss = nn.functional.l1_loss(out, torch.zeros(8, 1))
    loss.backward(retain_graph=True)
    optimizer.step()
