import torch
from torch import nn

encoder = nn.Linear(2, 2)
queue = torch.randn(4, 2)
for _ in range(3):
    q = nn.functional.normalize(encoder(torch.randn(2, 2)), dim=1)
    loss = (q @ queue.t()).logsumexp(1).mean()
    loss.backward()
    queue = torch.cat([queue[2:], q.detach()])
