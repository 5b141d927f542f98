import torch
from torch import nn

encoder, head = nn.Linear(2, 2), nn.Linear(2, 1)
encoder.requires_grad_(False)
features = torch.tanh(encoder(torch.randn(4, 2)))
head(features).mean().backward()
encoder.requires_grad_(True)
features = torch.tanh(encoder(torch.randn(4, 2)))
head(features).mean().backward()
head(features).mean().backward()
