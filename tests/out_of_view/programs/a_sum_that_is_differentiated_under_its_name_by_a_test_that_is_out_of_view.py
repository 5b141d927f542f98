
import torch
from torch import nn
from batches import is_open

model = nn.Linear(4, 2)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

def train(loader):
    is_first = True
    for count, (x, y) in enumerate(loader):
        one = nn.functional.mse_loss(model(x), y)
        if is_open(count):
            if is_first:
                loss = one
                is_first = False
            else:
                loss += one
        else:
            is_first = True
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
