import torch
from collections import deque

w = torch.ones(3, requires_grad=True)
states = deque(maxlen=1)
states.appendleft(torch.zeros(3))
for step in range(4):
    h = torch.tanh(states[-1] * w)
    h.sum().backward()
    states.appendleft(h.detach())
