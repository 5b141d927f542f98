import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(2, 3)
        self.h = None

    def reset(self):
        self.h = None

    def forward(self, x):
        self.h = self.cell(x, self.h)
        return self.h


model = Cell()
for _ in range(3):
    model.reset()
    model(torch.randn(4, 2))
    model(torch.randn(4, 2)).sum().backward()
