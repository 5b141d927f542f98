import torch
from torch import nn

encoder, head = nn.Linear(2, 2), nn.Linear(2, 1)
for epoch in range(12):
    frozen = epoch < 6
    for p in encoder.parameters():
        p.requires_grad_(not frozen)
    features = torch.tanh(encoder(torch.randn(4, 2)))
    loss = head(features).mean()
    loss.backward()
