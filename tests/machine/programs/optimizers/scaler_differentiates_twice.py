import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
scaler = torch.amp.GradScaler("cpu", enabled=False)
h = model(torch.randn(4, 2)).tanh()
scaler.scale(h.mean()).backward()
scaler.step(optimizer)
scaler.scale(h.pow(2).mean()).backward()
