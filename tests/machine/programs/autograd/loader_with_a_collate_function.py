import torch
from torch import nn
from torch.utils.data import DataLoader

data = [(float(k), k % 2) for k in range(6)]


def collate(rows):
    xs, ys = zip(*rows)
    return torch.tensor(xs).unsqueeze(1), torch.tensor(ys)


model = nn.Linear(1, 2)
criterion = nn.CrossEntropyLoss()
for x, y in DataLoader(data, batch_size=3, collate_fn=collate):
    criterion(model(x), y).backward()
