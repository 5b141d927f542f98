import torch
from torch import nn
from torch.optim.swa_utils import SWALR, AveragedModel

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
average = AveragedModel(model)
scheduler = SWALR(optimizer, swa_lr=0.05)
for _ in range(3):
    optimizer.zero_grad()
    model(torch.randn(4, 2)).mean().backward()
    optimizer.step()
    average.update_parameters(model)
    scheduler.step()
average(torch.randn(4, 2)).mean().backward()
