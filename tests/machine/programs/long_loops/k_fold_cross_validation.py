import torch
from torch import nn

data = torch.randn(12, 2)
scores = []
for fold in range(4):
    held = data[fold * 3 : (fold + 1) * 3]
    rest = torch.cat([data[: fold * 3], data[(fold + 1) * 3 :]])
    model = nn.Linear(2, 1)
    optimizer = torch.optim.Adam(model.parameters())
    for epoch in range(5):
        optimizer.zero_grad()
        model(rest).pow(2).mean().backward()
        optimizer.step()
    with torch.no_grad():
        scores.append(model(held).pow(2).mean().item())
print(sum(scores) / len(scores))
