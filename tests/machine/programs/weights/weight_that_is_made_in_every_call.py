import torch
from torch import nn

layer = nn.Linear(2, 3)
raw = layer._parameters.pop("weight")
layer.register_parameter("raw", nn.Parameter(raw.data))
opt = torch.optim.SGD(layer.parameters(), 0.1)
for _ in range(3):
    layer.weight = layer.raw * 0.5
    layer(torch.ones(4, 2)).sum().backward()
    opt.step()
assert [name for name in layer._parameters] == ["bias", "raw"]
