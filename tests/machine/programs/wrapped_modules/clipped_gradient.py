import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
total = 0.0
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(4, 2)).pow(2).mean().backward()
    total += nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
