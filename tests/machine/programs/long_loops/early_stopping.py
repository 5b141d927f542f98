import torch
from torch import nn

model = nn.Linear(2, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
best, patience = float("inf"), 3
x, y = torch.randn(8, 2), torch.randn(8, 1)
for epoch in range(50):
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if loss.item() < best - 0.01:
        best, patience = loss.item(), 3
    else:
        patience -= 1
    if patience == 0:
        break
