import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __init__(self, count):
        self.points = torch.randn(count, 2)

    def __len__(self):
        return len(self.points)

    def __getitem__(self, index):
        return self.points[index], self.points[index].sum()


model = nn.Linear(2, 1)
for x, y in DataLoader(Points(6), batch_size=3):
    (model(x).squeeze(-1) - y).abs().mean().backward()
