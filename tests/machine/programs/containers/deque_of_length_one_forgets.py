from collections import deque

import torch

w = torch.randn(2, requires_grad=True)
memory = deque(maxlen=1)
for k in range(3):
    memory.append((w * k).tanh())
    memory[0].sum().backward()
