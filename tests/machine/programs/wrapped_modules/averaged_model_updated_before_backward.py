import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel

model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
average = AveragedModel(model)
loss = average(torch.randn(4, 2)).mean()
average.update_parameters(model)
loss.backward()
