import torch
from torch import nn


def keep(module, args, output):
    module.kept = output


layer = nn.Linear(2, 2)
layer.register_forward_hook(keep)
layer(torch.randn(4, 2)).tanh().sum().backward()
layer.kept.pow(2).sum().backward()
layer.kept.pow(2).sum().backward()
