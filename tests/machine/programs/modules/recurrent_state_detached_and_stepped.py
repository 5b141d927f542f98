import torch
from torch import nn

rnn, head = nn.GRU(2, 3), nn.Linear(3, 1)
optimizer = torch.optim.Adam([*rnn.parameters(), *head.parameters()])
h = torch.zeros(1, 4, 3)
for _ in range(3):
    optimizer.zero_grad()
    out, h = rnn(torch.randn(5, 4, 2), h.detach())
    loss = head(out).mean()
    loss.backward()
    optimizer.step()
