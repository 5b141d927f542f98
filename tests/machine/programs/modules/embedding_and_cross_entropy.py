import torch
from torch import nn

embedding, head = nn.Embedding(10, 4), nn.Linear(4, 10)
criterion = nn.CrossEntropyLoss()
tokens = torch.randint(0, 10, (3, 5))
embedded = embedding(tokens)
for t in range(4):
    loss = criterion(head(embedded[:, t]), tokens[:, t + 1])
    loss.backward()
