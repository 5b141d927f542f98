import torch
from torch import nn


class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.trunk = nn.ModuleList(nn.Linear(2, 2) for _ in range(2))
        self.heads = nn.ModuleDict({"a": nn.Linear(2, 1), "b": nn.Linear(2, 1)})

    def forward(self, x):
        for layer in self.trunk:
            x = torch.tanh(layer(x))
        return {name: head(x).mean() for name, head in self.heads.items()}


model = Heads()
sum(model(torch.randn(4, 2)).values()).backward()
losses = model(torch.randn(4, 2))
for name in model.heads:
    losses[name].backward()
