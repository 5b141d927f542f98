import torch
from torch import nn

size = 4
changes = nn.Parameter(torch.zeros(6))
below = torch.tril_indices(row=size, col=size, offset=-1)
matrix = torch.zeros(size, size)
matrix[below[0], below[1]] = changes
matrix.sum().backward()
