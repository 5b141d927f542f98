import torch
from torch import nn


def cost(x):
    return x.pow(2).mean()


model = torch.compile(nn.Linear(2, 1), backend="eager")
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(2):
    loss = cost(model(torch.randn(4, 2)))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
loss.backward()
