import torch
import torch.nn.functional as F

layer = torch.nn.Linear(2, 2)
for _ in range(2):
    h = F.relu(layer(torch.randn(4, 2)), inplace=True)
    F.relu_(layer(h)).sum().backward()
