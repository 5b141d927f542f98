import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

encoder = nn.Linear(2, 3)
features = torch.tanh(encoder(torch.randn(8, 2)))
loader = DataLoader(TensorDataset(features, torch.randn(8, 1)), batch_size=2)
head = nn.Linear(3, 1)
for x, y in loader:
    F.mse_loss(head(x), y).backward()
