"""A constructor's loop builds the network: no pass of a training loop adds anything."""

import torch
from torch import nn


class Conditioner(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.adjacency = nn.Parameter(torch.ones(size, size))
        self.register_buffer("trace", torch.matrix_power(self.adjacency**2, 3).diagonal().sum())


class Step(nn.Module):
    def __init__(self, conditioner):
        super().__init__()
        self.conditioner = conditioner


class Flow(nn.Module):
    def __init__(self, steps):
        super().__init__()
        self.steps = nn.ModuleList()
        for step in steps:
            self.steps.append(step)


def build(count):
    steps = []
    for _ in range(count):
        steps.append(Step(Conditioner(4)))
    return Flow(steps)
