import torch
from torch import nn

net = nn.Sequential(nn.Linear(1, 4), nn.Tanh(), nn.Linear(4, 1))
optimizer = torch.optim.Adam(net.parameters())
x = torch.linspace(0, 1, 5).unsqueeze(1).requires_grad_()
for _ in range(3):
    u = net(x)
    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]
    u_xx = torch.autograd.grad(u_x, x, torch.ones_like(u_x), create_graph=True)[0]
    loss = (u_xx + u).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
