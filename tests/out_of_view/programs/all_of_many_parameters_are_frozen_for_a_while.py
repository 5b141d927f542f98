"""A list of parameters is gone through to its end, as the parameters of one module are."""

import torch
from torch import nn


class Frozen:
    def __init__(self, modules):
        self.parameters = []
        for module in modules:
            self.parameters += list(module.parameters())
        self.before = [p.requires_grad for p in self.parameters]

    def __enter__(self):
        for parameter in self.parameters:
            parameter.requires_grad = False

    def __exit__(self, *error):
        for i, parameter in enumerate(self.parameters):
            parameter.requires_grad = self.before[i]


encoder = nn.Sequential(nn.Linear(4, 8), nn.ELU(), nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 8))
actor = nn.Sequential(nn.Linear(8, 8), nn.ELU(), nn.Linear(8, 2))
actions = torch.zeros(4, 10, 2)
for run in range(4):
    state = torch.rand(4)
    for i in range(10):
        with Frozen([encoder, actor]):
            action = actor(encoder(state[None])).squeeze()
        actions[run, i] = action
        state = torch.rand(4) + float(action.numpy().sum())
print(actions.requires_grad)
