import torch
from torch import nn

model = nn.DataParallel(nn.Linear(2, 1))
optimizer = torch.optim.SGD(model.module.parameters(), lr=0.1)
for _ in range(2):
    optimizer.zero_grad()
    loss = model(torch.randn(4, 2)).pow(2).mean()
    loss.backward()
    optimizer.step()
model.module(torch.randn(4, 2)).pow(2).mean().backward()
loss.backward()
