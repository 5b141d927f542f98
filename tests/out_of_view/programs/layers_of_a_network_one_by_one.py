"""A test applies the layers of a network one after the other, however many there are."""

import pytest
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, width)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self, width, n_layers):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width) for _ in range(n_layers)])
        self.head = nn.Linear(width, width)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


@pytest.mark.parametrize("n_layers", [1, 2, 30])
def test_each_layer_is_applied_once(n_layers):
    net = Net(10, n_layers)
    inp = torch.randn(4, 10)
    out = net(inp)
    for block in net.blocks:
        inp = torch.relu(block.linear(inp))
    assert torch.equal(out, net.head(inp))


@pytest.mark.parametrize("n_layers", [1, 2, 30])
def test_shapes_stay(n_layers):
    net = Net(10, n_layers)
    state = torch.randn(4, 10)
    for number, block in enumerate(net.blocks):
        state = block(state)
        assert state.shape == (4, 10), number


def test_twenty_layers():
    layers = nn.ModuleList([nn.Linear(10, 10) for _ in range(20)])
    inp = torch.randn(5, 10)
    for layer in layers:
        inp = layer(inp)
    assert inp.shape == (5, 10)
