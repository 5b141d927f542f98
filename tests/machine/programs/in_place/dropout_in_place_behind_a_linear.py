import torch
import torch.nn.functional as F

layer = torch.nn.Linear(2, 2)
x = torch.randn(4, 2)
h = F.dropout(layer(x), p=0.5, training=True, inplace=True)
h.sum().backward()
x += 1
