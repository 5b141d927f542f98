import copy

import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Sigmoid())
twin = copy.deepcopy(model)
x = torch.randn(4, 2)
a, b = model(x), twin(x)
a.sum().backward()
b.sum().backward()
b.sum().backward()
