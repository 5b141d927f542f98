from collections import deque

import torch

w = torch.randn(2, requires_grad=True)
memory = deque([torch.zeros(2)], maxlen=2)
for k in range(4):
    out = (w * k).tanh()
    loss = sum((out - item).pow(2).sum() for item in memory)
    loss.backward()
    memory.append(out.detach())
    if len(memory) == 2:
        memory.popleft()
