from collections import deque

import torch

w = torch.randn(2, requires_grad=True)
memory = deque(maxlen=2)
for k in range(3):
    memory.append((w * k).tanh())
    loss = sum(item.sum() for item in memory)
    loss.backward()
