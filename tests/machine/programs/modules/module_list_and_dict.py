import torch
from torch import nn


class Multi(nn.Module):
    def __init__(self, tasks):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, 2) for _ in range(2)])
        self.heads = nn.ModuleDict({task: nn.Linear(2, 1) for task in tasks})

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return {task: head(x) for task, head in self.heads.items()}


model = Multi(["depth", "edges"])
outputs = model(torch.randn(4, 2))
sum(out.mean() for out in outputs.values()).backward()
outputs = model(torch.randn(4, 2))
for task in outputs:
    outputs[task].mean().backward()
