import torch
import torch.nn.functional as F
from torch import nn

first, second = nn.Linear(2, 2), nn.Linear(2, 2)
h = first(torch.randn(4, 2))
out = second(h)
out = out + F.leaky_relu_(h, 0.1)
out.mean().backward()
