import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

encoder = nn.Linear(2, 3)
features = torch.tanh(encoder(torch.randn(8, 2))).detach()
train, test = random_split(TensorDataset(features, torch.randn(8, 1)), [6, 2])
head = nn.Linear(3, 1)
for x, y in DataLoader(train, batch_size=2):
    F.mse_loss(head(x), y).backward()
