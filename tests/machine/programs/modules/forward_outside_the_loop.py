import torch
from torch import nn

net = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.randn(8, 2))
for epoch in range(3):
    optimizer.zero_grad()
    loss = nn.MSELoss()(out, torch.zeros(8, 1))
    loss.backward()
    optimizer.step()
