import torch
from torch import nn

attention = nn.MultiheadAttention(4, 2, batch_first=True)
x = torch.randn(2, 3, 4)
for _ in range(2):
    out, weights = attention(x, x, x)
    (out.mean() + weights.mean()).backward()
out, weights = attention(x, x, x)
out.mean().backward()
weights.mean().backward()
