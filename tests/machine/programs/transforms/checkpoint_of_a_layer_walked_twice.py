import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

layer = nn.Linear(2, 2)
loss = checkpoint(lambda x: torch.tanh(layer(x)), torch.randn(4, 2), use_reentrant=False).sum()
loss.backward()
loss.backward()
