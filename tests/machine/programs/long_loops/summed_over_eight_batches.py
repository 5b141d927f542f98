import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0
for step in range(32):
    total = total + model(torch.randn(4, 2)).pow(2).mean()
    if (step + 1) % 8 == 0:
        optimizer.zero_grad()
        total.backward()
        optimizer.step()
        total = 0
