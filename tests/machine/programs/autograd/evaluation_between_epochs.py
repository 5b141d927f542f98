import torch
from torch import nn

model = nn.Sequential(nn.Linear(2, 4), nn.Dropout(0.5), nn.Linear(4, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)


@torch.no_grad()
def evaluate(model):
    model.eval()
    return model(torch.randn(4, 2)).mean().item()


best = None
for epoch in range(2):
    model.train()
    loss = model(torch.randn(4, 2)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    score = evaluate(model)
    best = score if best is None else max(best, score)
