import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(2, 1)

    def penalty(self):
        return sum(p.pow(2).sum() for name, p in self.named_parameters() if "bias" not in name)

    def forward(self, x):
        return self.fc(x).mean() + 0.01 * self.penalty()


model = Model()
for _ in range(3):
    model(torch.randn(4, 2)).backward()
