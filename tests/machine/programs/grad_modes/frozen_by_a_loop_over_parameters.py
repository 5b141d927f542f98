import torch
from torch import nn

encoder, head = nn.Linear(2, 2), nn.Linear(2, 1)
for p in encoder.parameters():
    p.requires_grad = False
features = torch.tanh(encoder(torch.randn(4, 2)))
for _ in range(3):
    head(features).mean().backward()
