import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Features(Dataset):
    def __init__(self, encoder, count):
        self.features = encoder(torch.randn(count, 2)).tanh()

    def __len__(self):
        return len(self.features)

    def __getitem__(self, index):
        return self.features[index]


encoder, head = nn.Linear(2, 2), nn.Linear(2, 1)
for x in DataLoader(Features(encoder, 4), batch_size=2):
    head(x).mean().backward()
