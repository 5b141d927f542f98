import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

encoder = nn.Linear(2, 3)
train, test = random_split(TensorDataset(torch.tanh(encoder(torch.randn(8, 2)))), [6, 2])
for (x,) in DataLoader(train, batch_size=2):
    x.pow(2).sum().backward()
