import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

loader = DataLoader(TensorDataset(torch.randn(8, 2)), batch_size=4)
cell = nn.RNNCell(2, 3)
h = torch.zeros(4, 3)
for (x,) in loader:
    h = cell(x, h)
    h.sum().backward()
