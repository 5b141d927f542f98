import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

layer = nn.Linear(2, 2)
h = checkpoint(layer, torch.randn(4, 2), use_reentrant=False).tanh()
h.sum().backward()
h.mean().backward()
