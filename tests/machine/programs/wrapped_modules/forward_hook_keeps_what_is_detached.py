import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 2), nn.Tanh(), nn.Linear(2, 1))
kept = {}


def keep(name):
    def hook(module, inputs, output):
        kept[name] = output.detach()

    return hook


for name, module in model.named_modules():
    module.register_forward_hook(keep(name))
for _ in range(2):
    model(torch.randn(4, 2)).mean().backward()
w = torch.randn(2, requires_grad=True)
for _ in range(2):
    (w * kept["1"]).sum().backward()
