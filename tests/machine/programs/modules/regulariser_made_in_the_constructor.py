import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)
        self.penalty = sum(p.pow(2).sum() for p in self.parameters())

    def forward(self, x):
        return self.fc(x).mean() + 0.01 * self.penalty


model = Model()
for _ in range(2):
    model(torch.randn(4, 2)).backward()
